// src/serve.ts: settings, storage, start and stop
import * as kit from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { createCatalogue } from '@animal-store/domain';
import { createAuthentication } from '@animal-store/domain/transport';
import { loadPackageDefinition, Server, ServerCredentials, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { createHandlers } from './handlers.ts';

// 64-bit integers as decimal digits, and members that were not sent as undefined.
const definition = loadSync(`${import.meta.dirname}/animals.proto`, { longs: String, defaults: false });
const { Animals } = loadPackageDefinition(definition) as unknown as { Animals: ServiceClientConstructor };

export async function serve({ onStop, writeMessage }: Run): Promise<void> {
  const storages = await kit.findStorages(process.env);
  const own = [...Object.keys(kit.ADDRESS_VARIABLES), 'API_KEYS'];
  const settings = kit.readEnvironment(process.env, storages, own, (environment, errors) => ({
    ...kit.readVariables(environment, kit.ADDRESS_VARIABLES, errors),
    configuredKeys: kit.readApiKeys(environment, errors),
    storage: kit.readStorageSettings(environment, storages, 'allowed', errors),
  }));
  const { storage, warnings } = await kit.openStorage(settings.storage);
  for (const warning of warnings) writeMessage(warning);

  const { configuredKeys, HOST, PORT } = settings;
  const authenticate = createAuthentication({
    configuredKeys,
    issuedKeys: storage.keys,
    digest: kit.sha256,
    clock: Date.now,
    monotonicClock: () => performance.now(),
  });
  const catalogue = createCatalogue(storage.pets);
  const server = new Server();
  const reportError = kit.createErrorReport(writeMessage);
  server.addService(Animals.service, createHandlers({ catalogue, authenticate, reportError }));
  const host = HOST.includes(':') ? `[${HOST}]` : HOST;
  const port = await new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${PORT}`, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  }).catch(async (error: Error) => {
    await storage.close();
    // gRPC has the system's code in the message only, and none for an unknown name.
    const code = /\bE[A-Z]{3,}/.exec(error.message)?.[0] ?? 'ENOTFOUND';
    throw kit.addressError(Object.assign(error, { code }), HOST, PORT);
  });
  writeMessage(`listening at ${host}:${port}`);
  onStop(() => {
    server.tryShutdown(() => void storage.close());
    // A client may never end its call.
    setTimeout(() => server.forceShutdown(), 5_000).unref();
  });
}
