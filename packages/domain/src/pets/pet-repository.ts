import type { Idempotency } from './idempotency.ts';
import type { NewPet, Pet, PetStatus } from './pet.ts';

/** Which pets are selected. No member is optional, so that a new one is an error in each place that must know it. */
export interface PetFilters {
  /** Only pets with this status; undefined: with any, or none. */
  readonly status: PetStatus | undefined;
}

/** Filters that select all pets. */
export const ALL_PETS: PetFilters = { status: undefined };

/** A range of the pets in ascending order of id. */
export interface PetSelection extends PetFilters {
  /** Only pets whose id is greater: 0 to 2^63 - 1. */
  readonly after: bigint;
  /** At most this many pets: 1 to `LIMITS.page.maxRead`. */
  readonly limit: number;
}

/** A selection, for an adapter that applies these filters. If a filter is not named, it has no member that can be read. */
export type SelectionBy<Applied extends keyof PetFilters> = [keyof PetFilters] extends [Applied]
  ? PetSelection
  : Readonly<Record<'filterThatIsNotApplied', Exclude<keyof PetFilters, Applied>>>;

/** The outcome of a creation. */
export interface Creation {
  readonly pet: Pet;
  /**
   * Whether this call stored the pet. False: an earlier call with the same idempotency key did, or a request of this call that
   * was repeated because its response was lost.
   */
  readonly created: boolean;
}

/**
 * The port for persistence of pets. Its use cases have checked the arguments.
 *
 * Acknowledged writes are durable, and every later call sees them, of this repository or of another at the same place. A
 * repository serves at least a thousand calls at once; more may be `storage_unavailable`. Each method rejects with
 *
 * - DomainError `storage_unavailable`, within 2.5 seconds, if the storage can't be reached. The call may have run. It does not
 *   start afterwards; but what was sent may still be delivered by a network, or run by a server, that had stopped.
 * - any other error for a defect: a violated constraint, a wrong argument that the engine rejects, or a TypeError if the
 *   argument of `add` or `list` is missing.
 *
 * Arguments and results are read-only, for both sides.
 */
export interface PetRepository {
  /**
   * Stores a pet under a new id, from 1 to 2^53 - 1:
   *
   * - Within a repository it is above the ids of all pets that it has acknowledged, with two exceptions. If an operator sets the
   *   counter of ids back, the ids of stored pets are skipped, and some calls may fail meanwhile. A repetition under an
   *   idempotency key may complete an earlier creation under the id that this one got: so an engine needs a conditional write
   *   of one item, and no transactions over partitions.
   * - Ids of two repositories interleave if they reserve them in blocks.
   * - If no id is left, `add` fails as a violated constraint does, perhaps also for a repetition.
   *
   * @param newPet No other members, and none that is undefined. Stored code unit for code unit; a name may hold any well-formed
   * Unicode except U+0000.
   * @param idempotency If given, names this creation: the first pet stored under its holder (0 to 100 code points) and key is
   * the only one, also for calls at the same time. If an operator has deleted this pet from the database, the next call creates
   * it again, even if a record of the key is left. Holders and keys are equal if their code units are.
   * @returns The stored pet; the earlier pet if holder and key stand for the same fingerprint already; null if they stand
   * for another fingerprint.
   */
  add(newPet: NewPet, idempotency?: Idempotency): Promise<Creation | null>;

  /**
   * @param id 1 to 2^63 - 1.
   * @returns The pet, or null if none has this id, also if an operator has just deleted it: no storage caches pets.
   */
  find(id: bigint): Promise<Pet | null>;

  /**
   * The first pets of a selection, in ascending order of id: all that were acknowledged before the call, perhaps some that are
   * being created.
   *
   * Following the pages to their end yields every pet that was acknowledged at the start. It may miss pets that are created
   * meanwhile, with an id below that of a page that was read already: of two processes, one may have a lower block of ids, and
   * a repetition may complete an earlier creation. The adapters for memory, SQLite, PostgreSQL and MongoDB complete none.
   */
  list(selection: PetSelection): Promise<readonly Pet[]>;
}
