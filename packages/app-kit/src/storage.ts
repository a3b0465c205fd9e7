import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { adapter as memory } from '@animal-store/adapter-memory/adapter';
import { adapter as mongodb } from '@animal-store/adapter-mongodb/adapter';
import { adapter as postgres } from '@animal-store/adapter-postgres/adapter';
import { adapter as sqlite } from '@animal-store/adapter-sqlite/adapter';
import { DomainError } from '@animal-store/domain';
import { PORTS_VERSION, type Storage, type StorageAdapter, StorageMisconfigured } from '@animal-store/domain/ports';
import { ConfigurationError } from './configuration-error.ts';
import { quotesViolation, readText, spaceViolation, systemReason } from './environment.ts';
import type { Application } from './run-application.ts';

/** Adapters by the value of STORAGE. */
export type Adapters = Readonly<Record<string, StorageAdapter>>;

/** Every storage of this repository. A new one is a package, its two lines here, and its dependency in package.json. */
export const ADAPTERS = { memory, mongodb, postgres, sqlite } as const satisfies Adapters;

/** The variables that name the places of storages. */
const variablesOf = (adapters: Adapters) => Object.values(adapters).flatMap(({ variable }) => variable ?? []);

/** The names of the variables that choose a storage, for messages: `MONGODB_URL, POSTGRES_URL or SQLITE_FILE`. */
export function variableNames(adapters: Adapters = ADAPTERS): string {
  const names = variablesOf(adapters).map(({ name }) => name);
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names);
}

/** The variables of every application, for `--help`. */
export const STORAGE_VARIABLES: Application['variables'] = {
  STORAGE: { fallback: '', rule: `one of ${Object.keys(ADAPTERS).join(', ')}, or the module of an adapter` },
  ...Object.fromEntries(
    variablesOf(ADAPTERS).map(({ name, example, secret }) => [
      secret ? `${name}, ${name}_FILE` : name,
      { fallback: '', rule: `like ${example}${secret ? ', or a file that holds it' : ''}` },
    ]),
  ),
};

/**
 * The adapters that an environment can choose: those of this repository, and the one whose module STORAGE names, by a path
 * or as an installed package.
 *
 * @throws ConfigurationError if this module exports no adapter for these ports.
 */
export async function findAdapters(environment: NodeJS.ProcessEnv): Promise<Adapters> {
  const name = environment['STORAGE'] ?? '';
  const url = Object.hasOwn(ADAPTERS, name) ? null : urlOf(name);
  return url === null ? ADAPTERS : { ...ADAPTERS, [name]: await loadAdapter(name, url) };
}

/** null if there is no such module. */
function urlOf(name: string): string | null {
  if (/^\.{0,2}\//.test(name)) return existsSync(name) ? pathToFileURL(resolve(name)).href : null;
  // A URL resolves, too: it may be that of a database.
  if (name.includes(':')) return null;
  try {
    return import.meta.resolve(name);
  } catch {
    return null;
  }
}

async function loadAdapter(name: string, url: string): Promise<StorageAdapter> {
  const { adapter } = (await import(url).catch((error: unknown) => {
    throw new ConfigurationError(`STORAGE: ${name} can't be loaded: ${systemReason(error)}`);
  })) as { adapter?: Partial<StorageAdapter> };
  if (typeof adapter?.open !== 'function') throw new ConfigurationError(`STORAGE: ${name} exports no adapter`);
  if (adapter.portsVersion !== PORTS_VERSION) {
    throw new ConfigurationError(
      `STORAGE: the adapter of ${name} is for version ${adapter.portsVersion} of the ports, and Animal Store has version ` +
        `${PORTS_VERSION}: install another version of the adapter`,
    );
  }
  return adapter as StorageAdapter;
}

/** The storage that an environment chooses, and its place. */
export interface ChosenStorage {
  /** The value of STORAGE that names it. */
  readonly name: string;
  readonly adapter: StorageAdapter;
  /** The value of the adapter's variable; empty without one. It may hold credentials. */
  readonly setting: string;
  /** How messages name the setting: `MONGODB_URL`, or `MONGODB_URL_FILE` if it is from a file. */
  readonly subject: string;
  /** Variables of other storages that are set: a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Chooses the storage: the one that STORAGE names, otherwise the one whose variable is set, otherwise memory, but not if NODE_ENV
 * is production.
 *
 * @param errors Takes a sentence for each error.
 */
export function chooseStorage(environment: NodeJS.ProcessEnv, adapters: Adapters, errors: string[]): ChosenStorage {
  const candidates = Object.entries(adapters).map(([name, adapter]) => {
    if (adapter.variable === undefined) return { name, adapter, setting: '', subject: `STORAGE=${name}` };
    const { text: setting, subject } = readText(environment, adapter.variable, errors);
    return { name, adapter, setting, subject };
  });
  const set = candidates.filter(({ setting }) => setting !== '');
  const given = environment['STORAGE'] ?? '';
  const name = given || (set[0]?.name ?? 'memory');
  const chosen = candidates.find((candidate) => candidate.name === name);
  if (chosen === undefined) {
    const rule = `STORAGE must be one of ${Object.keys(adapters).join(', ')}, or the module of an adapter`;
    const found = `it was found neither as a path from ${process.cwd()} nor as a package from ${import.meta.dirname}`;
    errors.push(quotesViolation('STORAGE', given) ?? `${rule}: ${found}`);
    return { name, adapter: ADAPTERS.memory, setting: '', subject: 'STORAGE', warnings: [] };
  }
  const violation = spaceViolation(chosen.subject, chosen.setting);
  if (violation !== null) errors.push(violation);
  const { variable } = chosen.adapter;
  if (variable !== undefined && chosen.setting === '') {
    errors.push(`${variable.name} must be set if STORAGE is ${name}, as in ${variable.example}`);
  } else if (given === '' && set.length > 1) {
    errors.push(`STORAGE must say which to use: ${set.map(({ subject }) => subject).join(' and ')} are set`);
  } else if (given === '' && set.length === 0 && /^production$/i.test(environment['NODE_ENV'] ?? '')) {
    const rule = `STORAGE must be set if NODE_ENV is production, unless ${variableNames(adapters)} is`;
    errors.push(`${rule}: memory, the default, loses the animals when the process ends`);
  }
  const others = set.filter(({ subject }) => subject !== chosen.subject);
  const warnings = others.map(({ subject }) => `${subject} is set, but has no effect: the storage is ${name}`);
  return { ...chosen, warnings };
}

export interface OpenedStorage {
  readonly storage: Storage;
  /** Where pets are stored: `MongoDB`. */
  readonly description: string;
  /** Those of the choice and of the storage, such as insecure settings: a sentence each, with the name of the variable. */
  readonly warnings: readonly string[];
}

/** The configuration error that an error of a storage shows: waiting does not help. null for every other error. */
export function misconfigurationOf(error: unknown, { subject }: ChosenStorage): ConfigurationError | null {
  const cause = DomainError.is(error) ? error.cause : error;
  if (!StorageMisconfigured.is(cause)) return null;
  return new ConfigurationError(`${subject}: ${cause.message}`);
}

const IN_MEMORY = `the animals are kept in memory, and gone when this process ends: set ${variableNames()} to keep them`;

/**
 * Loads the adapter of a storage, and opens it. A server that can't be reached is no error here. Storage in memory is among the
 * warnings.
 *
 * @throws ConfigurationError if the settings can't be right.
 */
export async function openStorage(chosen: ChosenStorage, options?: { create: boolean }): Promise<OpenedStorage> {
  const { adapter, setting, subject, warnings } = chosen;
  try {
    const storage = await adapter.open(setting, options);
    if (typeof storage?.ready !== 'function') throw new StorageMisconfigured('its adapter opened no storage');
    const ofStorage = (storage.warnings ?? []).map((warning) => `${subject}: ${warning}`);
    if (adapter.variable === undefined) ofStorage.push(IN_MEMORY);
    return { storage, description: adapter.description, warnings: [...warnings, ...ofStorage] };
  } catch (error) {
    const message = `${subject}: the storage can't be opened: ${systemReason(error)}`;
    throw misconfigurationOf(error, chosen) ?? new ConfigurationError(message);
  }
}
