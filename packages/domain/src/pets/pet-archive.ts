import type { Idempotency } from './idempotency.ts';
import type { Pet } from './pet.ts';

/** A pet with everything that is stored about it. */
export interface StoredPet extends Pet {
  /** The idempotency key that it was created with, if any. */
  readonly idempotency?: Idempotency | undefined;
  /** In whole milliseconds since the epoch, in the range of a Date. `restore` rejects another one with a TypeError. */
  readonly createdAt: number;
}

/**
 * The port for moving pets to another place with their ids and idempotency keys. The rules of `PetRepository` about
 * acknowledgement, failures and arguments apply, but a call is given at most 1,000 pets or a limit of 1,000.
 */
export interface PetArchive {
  /** The first pets whose id is greater than `after`, 0 to 2^63 - 1, as `PetRepository.list` selects them. */
  read(after: bigint, limit: number): Promise<readonly StoredPet[]>;

  /**
   * Stores pets under the ids that they have. A pet whose id or idempotency key is stored already is left out: of several pets
   * with one key a call stores the first whose id is free. Later creations get ids above theirs. One call at a time,
   * while no other storage is open there: it may have reserved ids. If a call fails, some of the pets are stored, each with its
   * idempotency key and below the ids of later creations; repeated, it stores the rest.
   *
   * @param pets In ascending order of their ids, each id once, none above 2^53 - 1.
   */
  restore(pets: readonly StoredPet[]): Promise<void>;

  /** The last id that was assigned or skipped: the counter of ids, which deleted pets leave as it is. 0 if there was none. */
  lastId(): Promise<bigint>;

  /**
   * Raises the counter of ids: later creations get greater ids. It is never set back. One call at a time, while no other
   * storage is open there.
   *
   * @param lastId 0 to 2^53 - 1.
   */
  skipIds(lastId: bigint): Promise<void>;
}
