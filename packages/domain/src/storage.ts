/// <reference lib="esnext.disposable" preserve="true" />
import { StorageMisconfigured } from './errors.ts';
import type { PetArchive } from './pets/pet-archive.ts';
import type { Ports } from './port-methods.ts';

/**
 * A place where pets and API keys are stored, opened by an adapter. Several storages may be open at one place, in one
 * process or in many.
 *
 * An adapter must pass `storageContract` of `@animal-store/adapter-contract`, and guarantee:
 * - Acknowledged writes survive every crash that the storage promises to survive.
 * - The cost of a call does not grow with the number of pets.
 * - Messages, causes and `location` contain no credentials. A `cause` is the error of the driver, or a StorageMisconfigured
 *   if waiting can't help.
 * - While a call is in flight, something keeps the process alive: otherwise a program that waits for it ends with code 13.
 * - After `close` nothing keeps the process alive, except a thread that the system blocks, and no timer goes on.
 */
export interface Storage extends Ports {
  /** For moving pets to another storage and from one. Without it they can't be moved. */
  readonly archive?: PetArchive;

  /** Where the pets are, without credentials, for logs: `this process`, `db1:27017`, `/var/lib/animals.db`. */
  readonly location: string;

  /**
   * Insecure settings, one line each for the operator, without credentials. Read once, after `open`.
   *
   * @default none
   */
  readonly warnings?: readonly string[];

  /**
   * Resolves if all of the storage can be read and written now, and the place is the one that it has opened. Another one that
   * was put there, such as an empty one, would assign the same ids again: once `ready` or a new connection has met it, nothing is
   * written there. Until the place is back, writes are `storage_unavailable` with a StorageMisconfigured as their cause.
   *
   * @throws DomainError `storage_unavailable`, within 2.5 seconds.
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

/** A copy of all that a place holds. */
export interface Backup {
  /** The number of its bytes. */
  readonly size: number;
  /** It can be read once, until its end or an error. */
  readonly content: AsyncIterable<Uint8Array>;
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
   * @param options `create: false`: a place that doesn't exist is a StorageMisconfigured, and not created. Commands that read
   * give it, because the name of a file may be mistyped. An adapter for a server may ignore it.
   * @throws StorageMisconfigured
   */
  open(setting: string, options?: { readonly create?: boolean }): Promise<Storage>;

  /**
   * Makes a copy that is whole, while other processes use the place. Absent: the place is a server's, which has tools.
   *
   * @throws StorageMisconfigured, or DomainError `storage_unavailable`.
   */
  backup?(setting: string): Promise<Backup>;

  /**
   * Replaces what a place holds by a copy, as a whole: if that fails, it holds what it held.
   *
   * @param copy The content of a backup.
   * @param skippedIds How many ids are skipped after the last one that the copy or the place has assigned.
   * @returns The next id.
   * @throws DomainError `invalid` if the copy is not whole or not of this version, or if no id would be left;
   * StorageMisconfigured, or DomainError `storage_unavailable`, if the place can't be replaced, for example because a process
   * uses it.
   */
  restore?(setting: string, copy: AsyncIterable<Uint8Array>, skippedIds: bigint): Promise<bigint>;

  /** The tools that do the same on a server, for a message: `mongodump and mongorestore`. */
  readonly serverTools?: string;
}

/**
 * Checks the format of what is stored when it is opened, for an adapter that counts its formats. A version works with its own
 * format only.
 *
 * @param name The name of the formatted place, for the operator: `the collection pets`.
 * @param found The number of the stored format.
 * @param own The number of the format that this version creates.
 * @throws StorageMisconfigured if this version can't work with it.
 */
export function checkFormat(name: string, found: number, own: number): void {
  if (found === own) return;
  throw new StorageMisconfigured(
    `${name} has format ${found}, and this version of Animal Store works with format ${own}: ` +
      `start ${found > own ? 'a newer' : 'an older'} version`,
  );
}
