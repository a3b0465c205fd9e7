import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigurationError, openStorage, readNamedStorage, type StorageSettings, sha256 } from '@animal-store/app-kit';
import { createCatalogue, createKeyring, DomainError } from '@animal-store/domain';
import { mapPorts, type PetArchive, type Ports } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import { CommandFailed, type Context, type MovableStorage } from './context.ts';
import { MESSAGES } from './messages.ts';
import { targetSettings } from './target.ts';

/** An open storage. An error of a call says where the storage is, or which setting is wrong. */
interface CommandStorage extends Ports, AsyncDisposable {
  readonly archive: PetArchive | undefined;
  readonly location: string;
}

async function open(settings: StorageSettings, options?: { create: boolean }): Promise<CommandStorage> {
  const { storage, warnings, misconfiguration } = await openStorage(settings, options);
  for (const warning of warnings) process.stderr.write(MESSAGES.line(warning));
  const { archive, location } = storage;

  const explained =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>) =>
    async (...given: Given): Promise<R> => {
      try {
        return await method(...given);
      } catch (error) {
        const message = misconfiguration(error);
        if (message !== null) throw new ConfigurationError(message);
        if (!DomainError.is(error) || error.code !== 'storage_unavailable') throw error;
        throw new CommandFailed(MESSAGES.unavailable(location, reasonOf(error)));
      }
    };

  return {
    ...mapPorts(storage, explained),
    archive: archive && {
      read: explained((...given) => archive.read(...given)),
      restore: explained((...given) => archive.restore(...given)),
    },
    location,
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

/** @throws ConfigurationError */
async function namedStorage(): Promise<StorageSettings> {
  const settings = await readNamedStorage(process.env);
  if (settings.adapter.variable === undefined) throw new ConfigurationError(MESSAGES.inMemory);
  return settings;
}

export const withStorage: Context['withStorage'] = async (work, options = { create: false }) => {
  await using storage = await open(await namedStorage(), options);
  const keyring = createKeyring({ keys: storage.keys, digest: sha256, randomBytes, clock: Date.now });
  await work({ catalogue: createCatalogue(storage.pets), keyring });
};

/** A file has the same place by each of its names. */
const placeOf = ({ setting }: StorageSettings) => (existsSync(setting) ? realpathSync(setting) : resolve(setting));

export const withTarget: Context['withTarget'] = async (options, work) => {
  const [settings, other] = [await namedStorage(), await targetSettings(options)];
  if (placeOf(settings) === placeOf(other)) throw new ConfigurationError(MESSAGES.sameStorage);
  await using source = await open(settings, { create: false });
  await using target = await open(other);
  await work(movable(source), movable(target));
};

/** @throws CommandFailed */
function movable({ archive, keys, location }: CommandStorage): MovableStorage {
  if (archive === undefined) throw new CommandFailed(MESSAGES.noArchive(location));
  return { archive, keys };
}
