import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  ConfigurationError,
  findStorages,
  openStorage,
  quotesViolation,
  readNamedStorage,
  type StorageSettings,
  sha256,
} from '@animal-store/app-kit';
import { createCatalogue, createKeyring, DomainError } from '@animal-store/domain';
import { mapPorts, type PetArchive } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import { CommandFailed, type Context, type MovableStorage, type TargetOptions } from './context.ts';
import { MESSAGES } from './messages.ts';

/** Opens a storage. An error of a call says where the storage is, or which setting is wrong. */
async function open(settings: StorageSettings, options?: { create: boolean }) {
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

  const ports = mapPorts(storage, explained);
  return {
    ...ports,
    /** @throws CommandFailed */
    movable(): MovableStorage {
      if (archive === undefined) throw new CommandFailed(MESSAGES.noArchive(location));
      const read: PetArchive['read'] = explained((after, limit) => archive.read(after, limit));
      const restore: PetArchive['restore'] = explained((pets) => archive.restore(pets));
      return { archive: { read, restore }, keys: ports.keys };
    },
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
  await work(source.movable(), target.movable());
};

/**
 * Returns the storage that the options name: that of --to-storage, otherwise the one whose example has the scheme of the
 * setting. A path matches an example without a scheme.
 *
 * @throws ConfigurationError
 */
async function targetSettings({ to = '', toFile, toStorage }: TargetOptions): Promise<StorageSettings> {
  const [subject, value] = toFile === undefined ? ['--to', '--to'] : ['--to-file', 'the content of --to-file'];
  const setting = toFile === undefined ? to : (await readFile(toFile, 'utf8')).replace(/\r?\n$/, '');
  const violation = quotesViolation(value, setting);
  if (violation !== null) throw new ConfigurationError(violation);

  const durable = Object.entries(await findStorages({ STORAGE: toStorage })).flatMap(([name, adapter]) =>
    adapter.variable === undefined ? [] : [{ name, adapter, example: adapter.variable.example }],
  );
  const chosen = durable.find(({ name, example }) =>
    toStorage === undefined ? hasSchemeOf(example, setting) : name === toStorage,
  );
  if (toStorage !== undefined && chosen === undefined) throw new ConfigurationError(MESSAGES.noAdapter(toStorage));
  if (setting === '' || chosen === undefined) {
    throw new ConfigurationError(MESSAGES.noTarget(durable.map(({ example }) => example).join(', ')));
  }
  return { ...chosen, setting, subject, warnings: [] };
}

/** `mongodb+srv` and `postgresql` are schemes of `mongodb` and `postgres`, too. */
function hasSchemeOf(example: string, setting: string): boolean {
  const [, scheme] = /^(\w+):\/\//.exec(example) ?? [];
  return scheme === undefined ? !/^[\w+]+:\/\//.test(setting) : setting.startsWith(scheme);
}
