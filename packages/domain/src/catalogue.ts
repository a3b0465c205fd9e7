import { type Awaitable, andThen } from './awaitable.ts';
import { DomainError } from './domain-error.ts';
import { type IdempotencyKey, idempotentCreate } from './idempotency.ts';
import type { NewPet, Pet } from './pet.ts';
import { checkPetQuery, PAGE_LIMIT_DEFAULT, type PetQuery } from './pet-query.ts';
import type { PetStore } from './pet-store.ts';

/** One page of animals, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** What to ask for {@link PetQuery.after} to get the next page; null on the last. */
  readonly next: bigint | null;
}

/** The use cases of the catalogue, under the operation names of the interface. */
export interface Catalogue {
  /**
   * Lists animals. Whoever follows `next` to its end sees every animal that existed at the start exactly once.
   *
   * @throws DomainError `invalid_request`, `service_unavailable`
   */
  listPets(query?: PetQuery): Awaitable<PetPage>;

  /**
   * Adds an animal. With an idempotency key the same call can be repeated: it adds one animal and returns it each time.
   *
   * @throws DomainError `invalid_request`, `idempotency_key_reused`, `service_unavailable`
   */
  createPet(newPet: NewPet, idempotencyKey?: IdempotencyKey): Awaitable<Pet>;

  /**
   * Reads one animal.
   *
   * @throws DomainError `pet_not_found`, `service_unavailable`
   */
  getPet(id: bigint): Awaitable<Pet>;
}

/** @example const catalogue = createCatalogue(createMemoryStorage().pets) */
export function createCatalogue(pets: PetStore): Catalogue {
  return {
    listPets(query = {}) {
      checkPetQuery(query);
      const { status, after = 0n, limit = PAGE_LIMIT_DEFAULT } = query;
      // One more than asked for tells whether there is a next page.
      return andThen(pets.list({ status, after, limit: limit + 1 }), (found) => pageOf(found, limit));
    },

    createPet(newPet, idempotencyKey) {
      const addition = idempotencyKey && idempotentCreate(idempotencyKey, newPet);
      return andThen(pets.add(newPet, addition), (pet) => pet ?? keyReused());
    },

    getPet(id) {
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
    'this idempotency key was used for another animal: use a new key, or send the first animal again',
  );
}

function petNotFound(id: bigint): never {
  throw new DomainError('pet_not_found', `no animal has the id ${id}`);
}
