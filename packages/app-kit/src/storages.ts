import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { adapter as memory } from '@animal-store/adapter-memory/adapter';
import { adapter as mongodb } from '@animal-store/adapter-mongodb/adapter';
import { adapter as postgres } from '@animal-store/adapter-postgres/adapter';
import { adapter as sqlite } from '@animal-store/adapter-sqlite/adapter';
import { PORTS_VERSION, type StorageAdapter, type StorageVariable } from '@animal-store/domain/ports';
import { ConfigurationError } from './configuration-error.ts';

/** Adapters by the value of STORAGE. */
export type Storages = Readonly<Record<string, StorageAdapter>>;

/** Every storage of this repository. A new one is a package, its two lines here, and its dependency in package.json. */
export const STORAGES = { memory, mongodb, postgres, sqlite } as const satisfies Storages;

/** The variables that name the places of storages. */
export function storageVariables(storages: Storages): StorageVariable[] {
  return Object.values(storages).flatMap(({ variable }) => variable ?? []);
}

/** The variables that choose a storage, for messages: `MONGODB_URL, POSTGRES_URL or SQLITE_FILE`. */
export function storageChoices(storages: Storages = STORAGES): string {
  const names = storageVariables(storages).map(({ name }) => name);
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names);
}

/**
 * The storages that an environment can choose: those of this repository, and the one whose module STORAGE names, by a path
 * or as an installed package.
 *
 * @throws ConfigurationError if this module exports no adapter for these ports.
 */
export async function findStorages(environment: NodeJS.ProcessEnv): Promise<Storages> {
  const name = environment['STORAGE'] ?? '';
  const url = Object.hasOwn(STORAGES, name) ? null : urlOf(name);
  return url === null ? STORAGES : { ...STORAGES, [name]: await loadAdapter(name, url) };
}

/** null if there is no such module. */
function urlOf(name: string): string | null {
  if (/^\.{0,2}\//.test(name)) return existsSync(name) ? pathToFileURL(resolve(name)).href : null;
  try {
    return import.meta.resolve(name);
  } catch {
    return null;
  }
}

async function loadAdapter(name: string, url: string): Promise<StorageAdapter> {
  const { adapter } = (await import(url).catch((error: unknown) => {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n');
    throw new ConfigurationError(`STORAGE: ${name} can't be loaded: ${reason}`);
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
