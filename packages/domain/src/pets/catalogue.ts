import { DomainError, invalid } from '../errors.ts';
import { quote, violation } from '../quote.ts';
import { fingerprint, type IdempotencyKey, idempotencyViolations } from './idempotency.ts';
import { LIMITS } from './limits.ts';
import { checkedNewPet, type NewPet, type Pet } from './pet.ts';
import { checkedPetQuery, type PetQuery } from './pet-query.ts';
import type { Creation, PetRepository } from './pet-repository.ts';

/** One page of pets, in ascending order of id. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** The {@link PetQuery.after} of the next page; null on the last page. */
  readonly next: bigint | null;
}

/**
 * The use cases of the catalogue, under the operation names of the interface. They check their arguments: a transport casts
 * what it has read, and the error names every violation.
 */
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
   * @returns The pet, and whether this call created it.
   * @throws DomainError `invalid`, `idempotency_key_reused`, `storage_unavailable`
   */
  createPet(newPet: NewPet, idempotencyKey?: IdempotencyKey): Promise<Creation>;

  /**
   * Reads one pet.
   *
   * @param id Any bigint.
   * @throws DomainError `invalid` (for anything else), `pet_not_found`, `storage_unavailable`
   */
  getPet(id: bigint): Promise<Pet>;
}

/**
 * The use cases on a storage.
 *
 * @example const catalogue = createCatalogue(createMemoryStorage().pets)
 */
export function createCatalogue(pets: PetRepository): Catalogue {
  return {
    async listPets(query = {}) {
      const { status, after, limit } = checkedPetQuery(query);
      // One more than asked for tells whether there is a next page.
      const found = await pets.list({ status, after, limit: limit + 1 });
      const page = found.slice(0, limit);
      return { pets: page, next: found.length > limit ? (page[limit - 1] as Pet).id : null };
    },

    async createPet(given, idempotencyKey) {
      if (idempotencyKey === undefined) return (await pets.add(checkedNewPet(given))) as Creation;
      const newPet = checkedNewPet(given, idempotencyViolations(idempotencyKey));
      const { holder, key } = idempotencyKey;
      const creation = await pets.add(newPet, { holder, key, fingerprint: fingerprint(newPet) });
      if (creation !== null) return creation;
      throw new DomainError(
        'idempotency_key_reused',
        'this idempotency key was used for another pet: use a new key, or send the first pet again',
      );
    },

    async getPet(id) {
      if (typeof id !== 'bigint') throw invalid({ id: violation('id must be an integer', id) });
      const isInRange = id >= LIMITS.id.min && id <= LIMITS.id.max;
      const pet = isInRange ? await pets.find(id) : null;
      if (pet === null) throw new DomainError('pet_not_found', `no pet has the id ${quote(id)}`);
      return pet;
    },
  };
}
