import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  ConfigurationError,
  findStorages,
  type OpenStorage,
  openStorage,
  readNamedStorage,
  readVersion,
  type StorageSettings,
  sha256,
  storageChoices,
  versionText,
} from '@animal-store/app-kit';
import { createCatalogue, createKeyring, DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';
import { CommanderError } from 'commander';
import { CommandFailed, type Context, type CopySource } from './context.ts';
import { MESSAGES, withoutSecrets } from './messages.ts';
import { createProgram } from './program.ts';
import { targetSettings } from './target.ts';

const [EXIT_FAILED, EXIT_MISUSED] = [1, 2];

const { stdin, stdout, stderr } = process;
const words = process.argv.slice(2);

async function closing<T>(storage: OpenStorage, work: (opened: OpenStorage) => Promise<T>): Promise<T> {
  for (const warning of storage.warnings) stderr.write(MESSAGES.line(warning));
  try {
    return await explained(storage, () => work(storage));
  } finally {
    await storage.storage.close();
  }
}

/** Runs work whose outages and misconfigurations are those of a storage. */
async function explained<T>({ storage, misconfiguration }: OpenStorage, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = misconfiguration(error);
    if (message !== null) throw new ConfigurationError(message);
    if (!DomainError.is(error) || error.code !== 'storage_unavailable') throw error;
    throw new CommandFailed(MESSAGES.unavailable(storage.location, reasonOf(error)));
  }
}

/** @throws ConfigurationError */
async function namedStorage(): Promise<StorageSettings> {
  const settings = await readNamedStorage(process.env);
  if (settings.adapter.variable === undefined) throw new ConfigurationError(MESSAGES.inMemory);
  return settings;
}

const withStorage: Context['withStorage'] = async (work, options = { create: false }) =>
  closing(await openStorage(await namedStorage(), options), async ({ storage }) => {
    const keyring = createKeyring({ keys: storage.keys, digest: sha256, randomBytes, clock: Date.now });
    return work({ catalogue: createCatalogue(storage.pets), keyring });
  });

/** A file has the same place by each of its names. */
const placeOf = ({ setting }: StorageSettings) => (existsSync(setting) ? realpathSync(setting) : resolve(setting));

const withTarget: Context['withTarget'] = async (options, work) => {
  const [settings, other] = [await namedStorage(), await targetSettings(options)];
  if (placeOf(settings) === placeOf(other)) throw new ConfigurationError(MESSAGES.sameStorage);
  return closing(await openStorage(settings, { create: false }), async (source) =>
    closing(await openStorage(other), ({ storage: target }) => {
      const { archive, keys, location } = source.storage;
      if (archive === undefined) throw new CommandFailed(MESSAGES.noArchive(location));
      if (target.archive === undefined) throw new CommandFailed(MESSAGES.noArchive(target.location));
      const from: CopySource = {
        read: (...given) => explained(source, () => archive.read(...given)),
        listKeys: () => explained(source, () => keys.list()),
      };
      return work(from, { archive: target.archive, keys: target.keys });
    }),
  );
};

/** Reports an error. Throws it if it is unexpected. */
function exitCodeOf(error: unknown): number {
  // Commander has written its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSED;
  const isMisuse = error instanceof ConfigurationError || (DomainError.is(error) && error.code === 'invalid');
  const isOfSystem = (error as NodeJS.ErrnoException).errno !== undefined;
  if (!(isMisuse || isOfSystem || DomainError.is(error) || error instanceof CommandFailed)) throw error;
  stderr.write(MESSAGES.line(withoutSecrets((error as Error).message, words)));
  if (error instanceof CommandFailed) return error.exitCode;
  return isMisuse ? EXIT_MISUSED : EXIT_FAILED;
}

stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe, like `head`, needs no message.
  if (error.code !== 'EPIPE') stderr.write(MESSAGES.line(error.message));
  process.exit(EXIT_FAILED);
});
// A command continues without its messages.
stderr.on('error', () => {});
try {
  const context = { withStorage, withTarget, words, stdin, stdout, stderr, clock: Date.now };
  const choices = storageChoices(await findStorages(process.env));
  await createProgram(context, versionText(readVersion(process.env)), choices).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
