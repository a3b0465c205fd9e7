/// <reference lib="esnext.disposable" preserve="true" />
import type { KeyStore } from './api-keys/key-store.ts';
import type { PetStore } from './pets/pet-store.ts';

/**
 * A place where pets and API keys are stored, opened by an adapter. Several storages may be open at one place, in one
 * process or in many.
 *
 * An adapter must pass `storageContract` of `@animal-store/adapter-contract`, and guarantee:
 * - Acknowledged writes survive every crash that the storage promises to survive.
 * - The cost of a call does not grow with the number of pets.
 * - Messages, causes and `location` contain no credentials. A `cause` is the error of the driver.
 * - Nothing keeps the process alive after `close`.
 */
export interface PetStorage {
  readonly pets: PetStore;
  readonly keys: KeyStore;

  /** Where the pets are, without credentials, for logs: `this process`, `db1:27017`, `/var/lib/animals.db`. */
  readonly location: string;

  /** Insecure settings, one line each for the operator, without credentials. Absent: none. */
  readonly warnings?: readonly string[];

  /**
   * Resolves if the storage can be read and written now.
   *
   * @throws DomainError `storage_unavailable`, within 5 seconds.
   */
  ready(): Promise<void>;

  /**
   * Releases everything the adapter opened, within 5 seconds. Every later call that needs the storage is
   * `storage_unavailable`, and calls in flight may be, too. May be called twice.
   */
  close(): Promise<void>;

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
