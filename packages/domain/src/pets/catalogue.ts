import { type Awaitable, andThen } from '../awaitable.ts';
import { DomainError, invalid } from '../domain-error.ts';
import { integerViolation } from '../quote.ts';
import {
  type GivenIdempotencyKey,
  type IdempotencyKey,
  idempotencyHolderViolation,
  idempotencyKeyViolation,
  idempotencyOf,
} from './idempotency.ts';
import { LIMITS } from './limits.ts';
import { checkedNewPet, type NewPet, type Pet } from './pet.ts';
import { checkedPetQuery, type PetQuery } from './pet-query.ts';
import type { Creation, PetStore } from './pet-store.ts';

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The {@link PetQuery.after} of the next page; null on the last page. */
  readonly next: bigint | null;
}

/** The use cases of the catalogue, under the operation names of the interface. */
export interface Catalogue {
  /**
   * Lists pets. Following `next` to its end yields every pet that existed at the start exactly once.
   *
   * @throws DomainError `invalid`, `storage_unavailable`
   */
  listPets(query?: PetQuery): Promise<PetPage>;

  /**
   * Creates a pet. With an idempotency key the same call can be repeated: it creates one pet and returns it each time.
   *
   * @throws DomainError `invalid`, `idempotency_key_reused`, `storage_unavailable`
   */
  createPet(newPet: NewPet, idempotencyKey?: IdempotencyKey): Promise<Pet>;

  /**
   * Reads one pet.
   *
   * @param id Any bigint.
   * @throws DomainError `invalid` (for anything else), `pet_not_found`, `storage_unavailable`
   */
  getPet(id: bigint): Promise<Pet>;
}

/**
 * The same use cases for transports. They return values if the storage does, and may throw synchronously. They take
 * unchecked arguments: a transport passes on values that it can't convert, and the error describes them.
 */
export interface AwaitableCatalogue {
  /** @see Catalogue.listPets */
  listPets(query?: { readonly [member in keyof PetQuery]?: unknown }): Awaitable<PetPage>;
  /**
   * @see Catalogue.createPet
   * @returns The pet, and whether this call created it.
   */
  createPet(newPet: unknown, idempotencyKey?: GivenIdempotencyKey): Awaitable<Creation>;
  /** @see Catalogue.getPet */
  getPet(id: unknown): Awaitable<Pet>;
}

/**
 * The use cases on a storage, for callers in the same process.
 *
 * @example const catalogue = createCatalogue(createMemoryStorage().pets)
 */
export function createCatalogue(pets: PetStore): Catalogue {
  const { listPets, createPet, getPet } = createAwaitableCatalogue(pets);
  return {
    listPets: async (query) => listPets(query),
    createPet: async (newPet, idempotencyKey) => (await createPet(newPet, idempotencyKey)).pet,
    getPet: async (id) => getPet(id),
  };
}

/** The use cases on a storage, for transports. */
export function createAwaitableCatalogue(pets: PetStore): AwaitableCatalogue {
  return {
    listPets(query = {}) {
      const { status, after, limit } = checkedPetQuery(query);
      // One more than asked for tells whether there is a next page.
      return andThen(pets.list({ status, after, limit: limit + 1 }), (found) => pageOf(found, limit));
    },

    createPet(given, idempotencyKey) {
      const newPet = checkedNewPet(
        given,
        idempotencyKey && {
          idempotencyKey: idempotencyKeyViolation(idempotencyKey),
          holder: idempotencyHolderViolation(idempotencyKey),
        },
      );
      const idempotency = idempotencyKey && idempotencyOf(idempotencyKey as IdempotencyKey, newPet);
      return andThen(pets.add(newPet, idempotency), (creation) => creation ?? keyReused());
    },

    getPet(id) {
      if (typeof id !== 'bigint') throw invalid({ id: integerViolation('id must be an integer', id) });
      if (id < LIMITS.id.min || id > LIMITS.id.max) return petNotFound(id);
      return andThen(pets.find(id), (pet) => pet ?? petNotFound(id));
    },
  };
}

function pageOf(found: readonly Pet[], limit: number): PetPage {
  if (found.length <= limit) return { pets: found, next: null };
  const pets = found.slice(0, limit);
  return { pets, next: (pets[limit - 1] as Pet).id };
}

function keyReused(): never {
  throw new DomainError(
    'idempotency_key_reused',
    'this idempotency key was used for another pet: use a new key, or send the first pet again',
  );
}

function petNotFound(id: bigint): never {
  throw new DomainError('pet_not_found', `no pet has the id ${id}`);
}
