import { adapter as memory } from '@animal-store/adapter-memory/adapter';
import { adapter as mongodb } from '@animal-store/adapter-mongodb/adapter';
import { adapter as postgres } from '@animal-store/adapter-postgres/adapter';
import { adapter as sqlite } from '@animal-store/adapter-sqlite/adapter';
import type { StorageAdapter, StorageVariable } from '@animal-store/domain/ports';

/** Adapters by the value of STORAGE. */
export type Storages = Readonly<Record<string, StorageAdapter>>;

/** Every storage of this repository. A new one is a package, its two lines here, and its dependency in package.json. */
export const STORAGES = { memory, mongodb, postgres, sqlite } as const satisfies Storages;

/** The variables that name the places of storages. */
export function storageVariables(storages: Storages): StorageVariable[] {
  return Object.values(storages).flatMap(({ variable }) => variable ?? []);
}

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** The variables that choose a storage, for messages: `MONGODB_URL, POSTGRES_URL or SQLITE_FILE`. */
export function storageChoices(storages: Storages): string {
  return OR.format(storageVariables(storages).map(({ name }) => name));
}
