import type { PetPage } from './catalogue.ts';
import { LIMITS } from './limits.ts';
import type { Pet } from './pet.ts';
import type { PetQuery } from './pet-query.ts';

/** Which pets are read: a {@link PetQuery} without the size of its pages. */
export type AllPetsQuery = Omit<PetQuery, 'limit'>;

/**
 * Reads the pets of all pages in ascending order of id. It holds one page at a time, and reads the next one when its pets
 * have been consumed.
 *
 * It yields every pet that existed at the start exactly once, and may yield pets that are created meanwhile: if they are
 * created faster than they are read, it does not end. After an error the reading is continued with `after`, the id of the
 * last pet.
 *
 * @throws DomainError `invalid` for the first pet, `storage_unavailable` for any.
 * @example for await (const pet of allPets(catalogue, { status: 'sold' })) console.log(pet.name)
 */
export async function* allPets(
  catalogue: { listPets(query: PetQuery): Promise<PetPage> },
  query: AllPetsQuery = {},
): AsyncGenerator<Pet, void, undefined> {
  const { after, ...selection } = query;
  for (let next: bigint | null | undefined = after; next !== null; ) {
    const page: PetPage = await catalogue.listPets({ ...selection, limit: LIMITS.page.max, after: next });
    yield* page.pets;
    next = page.next;
  }
}
