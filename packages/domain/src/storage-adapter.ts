import type { PetStorage } from './pet-storage.ts';

/** What an adapter reports while it works. */
export interface StorageEvents {
  /**
   * Called for each lookup of an API key. Must not throw.
   *
   * @param cached Whether the record came from memory, without a query.
   */
  onKeyLookup?(cached: boolean): void;
}

/** What an adapter package exports as `adapter`: everything an application has to know of a kind of storage. */
export interface StorageAdapter {
  /** Where pets are stored, for the startup message: `MongoDB`, `a SQLite file`. */
  readonly description: string;

  /**
   * Opens a storage. A server that can't be reached is no error here, but `storage_unavailable` in each call until it can.
   *
   * @param setting The value of the adapter's variable; `''` if it has none.
   * @throws StorageMisconfigured
   */
  open(setting: string, events?: StorageEvents): PetStorage;
}
