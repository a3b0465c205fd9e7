import type { StorageAdapter } from '@animal-store/domain/ports';

/** A kind of storage that applications can use. */
export interface StorageEntry {
  /** Loads the adapter, and its driver with it, on use only: a driver takes longer to load than all the rest. */
  load(): Promise<{ readonly adapter: StorageAdapter }>;
  /**
   * The variable with the location of the pets. A storage without one stores them in the process. A secret, a URL with a
   * password for example, can also be in a file that a variable with the suffix _FILE names.
   */
  readonly setting?: { readonly variable: string; readonly example: string; readonly secret: boolean };
}

/** Every storage, by the value of STORAGE. A new one is a package, its line here, and its dependency in package.json. */
export const STORAGES = {
  memory: { load: () => import('@animal-store/adapter-memory') },
  mongodb: {
    load: () => import('@animal-store/adapter-mongodb'),
    setting: { variable: 'MONGODB_URL', example: 'mongodb://localhost:27017/animals', secret: true },
  },
  sqlite: {
    load: () => import('@animal-store/adapter-sqlite'),
    setting: { variable: 'SQLITE_FILE', example: '/var/lib/animal-store/animals.db', secret: false },
  },
} as const satisfies Readonly<Record<string, StorageEntry>>;

/** A value of STORAGE. */
export type StorageName = keyof typeof STORAGES;

/** The entries of the table, with one type for all. */
export const storageEntries: readonly (readonly [StorageName, StorageEntry])[] = Object.entries(STORAGES) as [
  StorageName,
  StorageEntry,
][];
