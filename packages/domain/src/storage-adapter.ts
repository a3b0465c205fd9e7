import type { PetStorage } from './pet-storage.ts';

/** The version of the ports. It changes when adapters must change. */
export const PORTS_VERSION = 1;

/** The variable of the environment that names the place of the pets. */
export interface StorageVariable {
  /** In capital letters, digits and underscores: `MONGODB_URL`. */
  readonly name: string;
  /** A value, for messages: `mongodb://localhost:27017/animals`. */
  readonly example: string;
  /** Whether a value may hold credentials. Then it can also be in a file, which a variable with the suffix _FILE names. */
  readonly secret: boolean;
}

/**
 * The export `adapter` of a module describes a kind of storage to applications. `open` loads the driver, so that other
 * storages don't wait for it.
 */
export interface StorageAdapter {
  /** {@link PORTS_VERSION} of the ports that it implements, as a literal. */
  readonly portsVersion: typeof PORTS_VERSION;

  /** Where pets are stored, for the startup message: `MongoDB`, `a SQLite file`. */
  readonly description: string;

  /** Absent if the pets are in the memory of the process, and gone when it ends. */
  readonly variable?: StorageVariable;

  /**
   * Opens a storage. A server that can't be reached is no error here, but `storage_unavailable` in each call until it can.
   *
   * @param setting The value of the variable; `''` without one.
   * @throws StorageMisconfigured
   */
  open(setting: string): Promise<PetStorage>;
}
