import type { Awaitable } from './awaitable.ts';
import type { IdempotentCreate } from './idempotency.ts';
import type { NewPet, Pet } from './pet.ts';
import type { PetStatus } from './pet-status.ts';

/** A stretch of the animals in ascending order of id. */
export interface PetSelection {
  /** Only animals with this status; all if absent. */
  readonly status?: PetStatus | undefined;
  /** Only animals whose id is greater: 0 for all. At most 2^63 - 1. */
  readonly after: bigint;
  /** At most this many animals, 1 or more. */
  readonly limit: number;
}

/**
 * The port for persistence of animals. An adapter is right when it passes the suites of `@animal-store/adapter-contract`.
 *
 * Whatever has been acknowledged is seen by every later call, and stays. Each method throws (or rejects with) a
 * DomainError `service_unavailable`, within seconds, where the storage can't be reached.
 */
export interface PetStore {
  /**
   * Stores an animal under an id of its own, from {@link PET_ID_MIN} to {@link ASSIGNED_ID_MAX}, and above those of all
   * animals that this PetStore has acknowledged, whatever other processes do.
   *
   * @param addition If given, names this addition: the first animal stored under its holder and key is the only one.
   * @returns The stored animal; with an addition that has been made already, that animal again; null where holder and
   * key stand for another fingerprint.
   */
  add(newPet: NewPet, addition?: IdempotentCreate): Awaitable<Pet | null>;

  /** @param id Any bigint. @returns The animal, or null where none has this id. */
  find(id: bigint): Awaitable<Pet | null>;

  /** The first animals of a selection, in ascending order of id. An animal is not missed because others are added. */
  list(selection: PetSelection): Awaitable<readonly Pet[]>;
}
