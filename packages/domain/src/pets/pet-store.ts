import type { Awaitable } from '../awaitable.ts';
import type { IdempotentCreate } from './idempotency.ts';
import type { NewPet, Pet } from './pet.ts';
import type { PetStatus } from './pet-status.ts';

/** A range of the pets in ascending order of id. */
export interface PetSelection {
  /** Only pets with this status; all if absent. */
  readonly status?: PetStatus | undefined;
  /** Only pets whose id is greater: 0 to 2^63 - 1. */
  readonly after: bigint;
  /** At most this many pets, 1 or more. */
  readonly limit: number;
}

/**
 * The port for persistence of pets. An adapter is right if it passes the suites of `@animal-store/adapter-contract`.
 *
 * Every later call sees what has been acknowledged, and it stays. Each method throws (or rejects with) a DomainError
 * `storage_unavailable` within 5 seconds if the storage can't be reached.
 */
export interface PetStore {
  /**
   * Stores a pet under a new id, from 1 to 2^53 - 1, above the ids of all pets that this PetStore has acknowledged,
   * whatever other processes do.
   *
   * @param newPet Checked by the use case, which gives no other members and does not change it; no member `status` if it
   * has none.
   * @param create If given, names this creation: the first pet stored under its holder and key is the only one.
   * @returns The stored pet; the earlier pet if holder and key stand for the same fingerprint already; null if they stand
   * for another fingerprint.
   */
  add(newPet: NewPet, create?: IdempotentCreate): Awaitable<Pet | null>;

  /** @param id Any bigint. @returns The pet, or null if none has this id. */
  find(id: bigint): Awaitable<Pet | null>;

  /** The first pets of a selection, in ascending order of id. A pet is not missed because others are added. */
  list(selection: PetSelection): Awaitable<readonly Pet[]>;
}
