/// <reference lib="esnext.disposable" preserve="true" />
import type { KeyStore } from './api-keys/key-store.ts';
import type { Awaitable } from './awaitable.ts';
import type { PetStore } from './pets/pet-store.ts';
import type { RateLimiter, RatePolicy } from './rate-limiter.ts';

/**
 * A place where pets and API keys are stored, opened by an adapter. Several storages may be open at one place, in one
 * process or in many.
 *
 * An adapter is right if it passes `storageContract` of `@animal-store/adapter-contract`, and if it keeps what no suite for
 * every storage can test:
 * - What was acknowledged survives every crash that the storage promises to survive.
 * - The cost of a call does not grow with the number of pets.
 * - Messages, causes and `location` hold no credentials. A `cause` tells the operator what the driver said.
 * - Nothing keeps the process alive after `close`.
 */
export interface PetStorage {
  readonly pets: PetStore;
  readonly keys: KeyStore;

  /** Where the pets are, without credentials, for logs: `this process`, `db1:27017`, `/var/lib/animals.db`. */
  readonly location: string;

  /** What the settings weaken, one line each for the operator, without credentials. Absent: nothing. */
  readonly warnings?: readonly string[];

  /** A limiter that counts for all processes on the storage. Absent if they can't share a count. */
  createRateLimiter?(policy: RatePolicy): RateLimiter;

  /** Resolves if the storage can be read and written now. @throws DomainError `storage_unavailable`, within 5 seconds. */
  ready(): Awaitable<void>;

  /**
   * Releases everything the adapter opened, within 5 seconds. What was acknowledged stays; every later call is
   * `storage_unavailable`, and so may be those in flight. May be called twice.
   */
  close(): Awaitable<void>;

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
