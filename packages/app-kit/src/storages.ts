import { adapter as memory } from '@animal-store/adapter-memory/adapter';
import { adapter as mongodb } from '@animal-store/adapter-mongodb/adapter';
import { adapter as sqlite } from '@animal-store/adapter-sqlite/adapter';
import type { StorageAdapter, StorageVariable } from '@animal-store/domain/ports';

/** Adapters by the value of STORAGE. */
export type Storages = Readonly<Record<string, StorageAdapter>>;

/** Every storage of this repository. A new one is a package, its two lines here, and its dependency in package.json. */
export const STORAGES = { memory, mongodb, sqlite } as const satisfies Storages;

/** The variables that say where pets are. */
export function storageVariables(storages: Storages): StorageVariable[] {
  return Object.values(storages).flatMap(({ variable }) => variable ?? []);
}

/** What chooses a storage, for messages: `MONGODB_URL or SQLITE_FILE`. */
export function storageChoices(storages: Storages): string {
  return storageVariables(storages)
    .map(({ name }) => name)
    .join(' or ');
}
