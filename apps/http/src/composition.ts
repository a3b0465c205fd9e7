// First of all imports: tsyringe throws if the Reflect metadata API is missing.
import 'reflect-metadata';
import type { RequestListener } from 'node:http';
import { sha256, type Version } from '@animal-store/app-kit';
import { type Catalogue, type Clock, createCatalogue } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { type Authenticate, createAuthentication } from '@animal-store/domain/transport';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { type DependencyContainer, type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createApp } from './app.ts';
import type { Configuration } from './configuration.ts';
import { createExchange, type Env, type Exchange, SECURITY_HEADERS } from './http/exchange.ts';
import { CLIENT_MESSAGES, errorResponse, invalidRequest } from './http/http-error.ts';
import { createRequestLog, type Log } from './observability/log.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { type CheckStorage, createStorageCheck } from './observability/readiness.ts';
import { createPet } from './pets/create-pet.ts';
import { getPet } from './pets/get-pet.ts';
import { listPets } from './pets/list-pets.ts';
import { createRateLimit } from './rate-limit.ts';

/** What a service is made of. The container closes nothing: whoever opened the storage closes it. */
export interface Parts {
  readonly configuration: Configuration;
  readonly version: Version;
  readonly storage: PetStorage;
  readonly log: Omit<Log, 'print' | 'close'>;
  /** Whether the service is stopping. */
  readonly isStopping: () => boolean;
  /** Milliseconds since the epoch; it decides when the deprecated operation ends. */
  readonly clock?: Clock;
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name);

/** The parts that a container resolves. */
export const TOKENS = {
  storage: token<Pick<PetStorage, 'pets' | 'keys'>>('storage'),
  catalogue: token<Catalogue>('catalogue'),
  authenticate: token<Authenticate>('authenticate'),
  metrics: token<Metrics>('metrics'),
  checkStorage: token<CheckStorage>('checkStorage'),
  exchange: token<Exchange>('exchange'),
  listener: token<RequestListener>('listener'),
};

/** Registers every part of a service. */
export function compose({
  configuration,
  version,
  storage,
  log,
  isStopping,
  clock = Date.now,
}: Parts): DependencyContainer {
  const { BASE_PATH: basePath, RATE_LIMIT: limit } = configuration;
  const container = root.createChildContainer();
  const provide = <T>(name: InjectionToken<T>, make: (c: DependencyContainer) => T) =>
    container.register(name, { useFactory: instanceCachingFactory(make) });

  provide(TOKENS.checkStorage, () => createStorageCheck(storage, log));
  provide(TOKENS.metrics, (c) =>
    createMetrics({
      version,
      inFlight: () => c.resolve(TOKENS.exchange).inFlight(),
      droppedLines: log.dropped,
      checkStorage: c.resolve(TOKENS.checkStorage),
    }),
  );
  provide(TOKENS.storage, (c) => c.resolve(TOKENS.metrics).instrument(storage));
  provide(TOKENS.catalogue, (c) => createCatalogue(c.resolve(TOKENS.storage).pets));
  provide(TOKENS.authenticate, (c) => {
    const { configuredKeys } = configuration;
    return createAuthentication({
      configuredKeys,
      issuedKeys: c.resolve(TOKENS.storage).keys,
      digest: sha256,
      clock,
      monotonicClock: () => performance.now(),
    });
  });
  provide(TOKENS.exchange, (c) => {
    const logRequest = createRequestLog(log);
    const { observe } = c.resolve(TOKENS.metrics);
    return createExchange((record, response) => {
      observe(record, response);
      logRequest(record, response);
    }, configuration.TRUST_PROXY);
  });
  provide(TOKENS.listener, (c) => {
    const dependencies = { catalogue: c.resolve(TOKENS.catalogue), clock, basePath };
    const app = createApp({
      ...{ basePath, isStopping, corsOrigins: configuration.CORS_ORIGINS },
      operations: [listPets(dependencies), createPet(dependencies), getPet(dependencies)],
      exchange: c.resolve(TOKENS.exchange),
      authenticate: c.resolve(TOKENS.authenticate),
      rateLimit: limit === 0 ? null : createRateLimit(limit),
      checkStorage: c.resolve(TOKENS.checkStorage),
      registry: c.resolve(TOKENS.metrics).registry,
    });
    return createListener(app);
  });
  return container;
}

function createListener(app: Hono<Env>): RequestListener {
  return getRequestListener((request, env) => app.fetch(request, env as Env['Bindings']), {
    // Node reads on after an early response: a client gets it that reads nothing before it has sent its body.
    autoCleanupIncoming: false,
    // For an empty Host field.
    hostname: 'localhost',
    // For a Host field in another form than that of URLs. Handlers do not throw.
    errorHandler() {
      const { status, headers, body } = errorResponse(invalidRequest(CLIENT_MESSAGES.badHostForm));
      return new Response(body, {
        status,
        headers: { ...SECURITY_HEADERS, ...headers, 'x-request-id': crypto.randomUUID() },
      });
    },
  });
}
