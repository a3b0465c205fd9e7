import {
  type Catalogue,
  createCatalogue,
  DomainError,
  LIMITS,
  PET_STATUSES,
  type Pet,
  type PetQuery,
} from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { type OpenStorage, storageForTest } from './open-storage.ts';
import { animal } from './samples.ts';

/** The code of the DomainError that a call ends with, whether it throws or rejects. */
async function codeOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    return (error as DomainError).code;
  }
  return undefined;
}

async function everyPage(catalogue: Catalogue, query: PetQuery): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (let after: bigint | null | undefined = query.after; ; ) {
    const page = await catalogue.listPets({ ...query, after });
    pets.push(...page.pets);
    if (page.next === null) return pets;
    expect(page.pets).toHaveLength(query.limit ?? 20);
    after = page.next;
  }
}

/** The use cases of the catalogue, put together with a storage. What they refuse by themselves is the domain's to test. */
export function catalogueContract(open: OpenStorage): void {
  const catalogueOnStorage = async () => createCatalogue((await storageForTest(open)).pets);

  describe('the catalogue', () => {
    test('an animal that was added is read and listed', async () => {
      const catalogue = await catalogueOnStorage();
      const pet = await catalogue.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(pet).toStrictEqual({ id: pet.id, name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(await catalogue.getPet(pet.id)).toStrictEqual(pet);
      expect(await catalogue.listPets()).toStrictEqual({ pets: [pet], next: null });
    });

    test('a thousand animals, page by page, by each status', async () => {
      const catalogue = await catalogueOnStorage();
      const all: Pet[] = [];
      for (let batch = 0; batch < 10; batch += 1) {
        const pets = Array.from({ length: 100 }, (_, index) =>
          catalogue.createPet(animal({ name: `${batch}-${index}`, status: PET_STATUSES[index % 4] })),
        );
        all.push(...(await Promise.all(pets)));
      }
      all.sort((a, b) => Number(a.id - b.id));
      expect(await everyPage(catalogue, { limit: 7 })).toStrictEqual(all);
      // The largest page, and the one animal more that tells of the next: a driver may cut what it sends at once.
      expect(await everyPage(catalogue, { limit: LIMITS.page.max })).toStrictEqual(all);
      for (const status of PET_STATUSES) {
        const matching = all.filter((pet) => pet.status === status);
        expect(matching).toHaveLength(250);
        expect(await everyPage(catalogue, { limit: 50, status })).toStrictEqual(matching);
      }
    });

    test('an idempotency key adds once: the same animal again, another is idempotency_key_reused', async () => {
      const catalogue = await catalogueOnStorage();
      const name = { holder: 'the zoo', key: 'k-1' };
      const pet = await catalogue.createPet(animal(), name);
      expect(await catalogue.createPet(animal(), name)).toStrictEqual(pet);
      for (const other of [{ name: 'Max' }, { categoryId: 8n }, { status: 'sold' as const }]) {
        expect(await codeOf(() => catalogue.createPet(animal(other), name))).toBe('idempotency_key_reused');
      }
      expect(await catalogue.createPet(animal(), { ...name, holder: 'another zoo' })).not.toStrictEqual(pet);
      expect((await catalogue.listPets()).pets).toHaveLength(2);
    });
  });
}
