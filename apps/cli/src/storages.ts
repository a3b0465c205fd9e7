import { randomBytes } from 'node:crypto';
import { existsSync, fstatSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type ChosenStorage,
  ConfigurationError,
  chooseStorage,
  findAdapters,
  misconfigurationOf,
  quotesViolation,
  readSettings,
  sha256,
  spaceViolation,
  systemReason,
} from '@animal-store/app-kit';
import { type Catalogue, createCatalogue, createKeyring, DomainError, type Keyring } from '@animal-store/domain';
import { type ApiKeyRepository, mapPorts, type Storage } from '@animal-store/domain/ports';
import { reasonOf } from '@animal-store/domain/transport';
import { CommandFailed, type Context } from './context.ts';
import { MESSAGES } from './messages.ts';

interface UseCases {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  readonly keys: ApiKeyRepository;
}

/** A storage that `copy` reads or fills. */
export type MovableStorage = Required<Pick<Storage, 'archive' | 'keys'>>;

/** The options that name the target: its setting, or a file with it, and perhaps the module of its adapter. */
export interface TargetOptions {
  readonly to?: string;
  readonly toFile?: string;
  readonly toStorage?: string;
}

/**
 * Opens the storage that the environment names, and closes it when the work has ended.
 *
 * @param options A file that doesn't exist is an error, because its name may be mistyped, unless `create` is true.
 */
export async function withStorage(
  context: Context,
  work: (useCases: UseCases) => Promise<void>,
  options = { create: false },
): Promise<void> {
  await using storage = await open(context, await namedStorage(context), options);
  const keyring = createKeyring({ keys: storage.keys, digest: sha256, randomBytes, clock: context.clock });
  await work({ catalogue: createCatalogue(storage.pets), keyring, keys: storage.keys });
}

/** Opens the storage that the environment names and another one, which may be created, and closes them. */
export async function withTarget(
  context: Context,
  options: TargetOptions,
  work: (source: MovableStorage, target: MovableStorage) => Promise<void>,
): Promise<void> {
  const [chosen, other] = [await namedStorage(context), await chooseTarget(options)];
  if (placeOf(chosen) === placeOf(other)) throw new ConfigurationError(MESSAGES.sameStorage);
  await using source = await open(context, chosen, { create: false });
  await using target = await open(context, other);
  await work(source, target);
}

/** Calls a method of an adapter. An error says where the storage is, or which setting is wrong. */
async function explainErrors<R>(call: () => Promise<R>, chosen: ChosenStorage, location: string): Promise<R> {
  try {
    return await call();
  } catch (error) {
    const misconfiguration = misconfigurationOf(error, chosen);
    if (misconfiguration !== null) throw misconfiguration;
    if (!DomainError.is(error) || error.code !== 'storage_unavailable') throw error;
    throw new CommandFailed(MESSAGES.unavailable(location, reasonOf(error)));
  }
}

/** The methods of an adapter that copy the place that the environment names. */
export async function placeToCopy(context: Context) {
  const chosen = await namedStorage(context);
  const { adapter, setting, subject } = chosen;
  const location = adapter.variable?.secret ? subject : setting;
  const { description, backup, restore, serverTools } = adapter;
  if (backup === undefined || restore === undefined)
    throw new CommandFailed(MESSAGES.noBackup(description, serverTools));
  return {
    /** Whether an open file is the storage itself, or its log. */
    has(fd: number): boolean {
      const { dev, ino } = fstatSync(fd, { bigint: true });
      return ['', '-wal'].some((suffix) => {
        const stat = statSync(placeOf(chosen) + suffix, { bigint: true, throwIfNoEntry: false });
        return stat?.dev === dev && stat.ino === ino;
      });
    },
    backup: () => explainErrors(() => backup(setting), chosen, location),
    restore: (copy: AsyncIterable<Uint8Array>, skippedIds: bigint) =>
      explainErrors(() => restore(setting, copy, skippedIds), chosen, location),
  };
}

/** Opens a storage. */
async function open({ stderr, openStorage }: Context, chosen: ChosenStorage, options?: { create: boolean }) {
  const { storage } = await openStorage(chosen, options);
  // The service writes those of the storage at its start. Here they would fill the audit log.
  for (const warning of chosen.warnings) stderr.write(MESSAGES.line(warning));
  const { location } = storage;

  const explained =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>) =>
    (...given: Given): Promise<R> =>
      explainErrors(() => method(...given), chosen, location);

  const noArchive = () => Promise.reject(new CommandFailed(MESSAGES.noArchive(location)));
  const { archive = { read: noArchive, restore: noArchive, lastId: noArchive, skipIds: noArchive } } = storage;
  return {
    ...mapPorts(storage, explained),
    archive: {
      read: explained(archive.read.bind(archive)),
      restore: explained(archive.restore.bind(archive)),
      lastId: explained(archive.lastId.bind(archive)),
      skipIds: explained(archive.skipIds.bind(archive)),
    },
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

/** @throws ConfigurationError */
async function namedStorage({ environment }: Context): Promise<ChosenStorage> {
  const adapters = await findAdapters(environment);
  const chosen = readSettings((errors) => chooseStorage(environment, adapters, errors));
  if (chosen.adapter.variable === undefined) throw new ConfigurationError(MESSAGES.inMemory);
  return chosen;
}

/** A file has the same place by each of its names. */
function placeOf({ setting }: ChosenStorage): string {
  return existsSync(setting) ? realpathSync(setting) : resolve(setting);
}

/**
 * Returns the storage that the options name: that of --to-storage, otherwise the one whose example has the scheme of the
 * setting. A path that begins with `/`, `./` or `../` matches an example without a scheme.
 *
 * @throws ConfigurationError
 */
async function chooseTarget({ to = '', toFile, toStorage }: TargetOptions): Promise<ChosenStorage> {
  const [subject, value, setting] =
    toFile === undefined
      ? ['--to', '--to', to]
      : ['--to-file', 'the content of --to-file', (await readSetting(toFile)).replace(/\r?\n$/, '')];
  const violation = quotesViolation(value, setting) ?? spaceViolation(value, setting);
  if (violation !== null) throw new ConfigurationError(violation);
  if (toFile !== undefined && setting === '') throw new ConfigurationError(MESSAGES.emptyFile(subject));

  const adapters = await findAdapters({ STORAGE: toStorage });
  const durable = Object.entries(adapters).flatMap(([name, adapter]) =>
    adapter.variable === undefined ? [] : [{ name, adapter, example: adapter.variable.example }],
  );
  const chosen = durable.find(({ name, example }) =>
    toStorage === undefined ? hasSchemeOf(example, setting) : name === toStorage,
  );
  if (toStorage !== undefined && chosen === undefined) throw new ConfigurationError(MESSAGES.noAdapter);
  if (setting === '' || chosen === undefined) {
    throw new ConfigurationError(MESSAGES.noTarget(durable.map(({ example }) => example).join(', ')));
  }
  return { ...chosen, setting, subject, warnings: [] };
}

function readSetting(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new ConfigurationError(MESSAGES.unreadableFile('--to-file', systemReason(error)));
  });
}

/** `mongodb+srv` and `postgresql` are schemes of `mongodb` and `postgres`, too. A URL without a scheme is no path. */
function hasSchemeOf(example: string, setting: string): boolean {
  const [, scheme] = /^(\w+):\/\//.exec(example) ?? [];
  return scheme === undefined ? /^\.{0,2}\/(?!\/)/.test(setting) : setting.startsWith(scheme);
}
