import {
  type Catalogue,
  createCatalogue,
  DomainError,
  PET_STATUSES,
  type Pet,
  type PetQuery,
  parseNewPet,
} from '@animal-store/domain';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OpenStorage, storageForTest } from './open-storage.ts';
import { animal, animals, maybeStatuses } from './samples.ts';

/** The code of the DomainError that a call ends with, whether it throws or rejects. */
export async function codeOf(call: () => unknown): Promise<string | undefined> {
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

/** What the use cases of the catalogue do on any storage. */
export function catalogueContract(open: OpenStorage): void {
  const catalogueOnStorage = async () => createCatalogue((await storageForTest(open)).pets);

  describe('the catalogue', () => {
    test('an animal that was added is read and listed', async () => {
      const catalogue = await catalogueOnStorage();
      const pet = await catalogue.createPet(parseNewPet({ name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' }));
      expect(pet).toStrictEqual({ id: pet.id, name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(await catalogue.getPet(pet.id)).toStrictEqual(pet);
      expect(await catalogue.listPets()).toStrictEqual({ pets: [pet], next: null });
    });

    test('an unknown id is pet_not_found', async () => {
      const catalogue = await catalogueOnStorage();
      for (const id of [0n, 1n, -1n, 2n ** 80n]) expect(await codeOf(() => catalogue.getPet(id))).toBe('pet_not_found');
    });

    test('a page holds 20 animals unless asked otherwise, and says whether there are more', async () => {
      const catalogue = await catalogueOnStorage();
      const pets: Pet[] = [];
      for (let count = 0; count < 20; count += 1) pets.push(await catalogue.createPet(animal()));
      expect(await catalogue.listPets()).toStrictEqual({ pets, next: null });
      pets.push(await catalogue.createPet(animal()));
      expect(await catalogue.listPets()).toStrictEqual({ pets: pets.slice(0, 20), next: pets[19]?.id });
      expect(await catalogue.listPets({ after: 0n })).toStrictEqual(await catalogue.listPets());
      expect(await catalogue.listPets({ after: 2n ** 63n - 1n })).toStrictEqual({ pets: [], next: null });
      expect(await catalogue.listPets({ limit: 21 })).toStrictEqual({ pets, next: null });
      expect(await catalogue.listPets({ limit: 1 })).toStrictEqual({ pets: pets.slice(0, 1), next: pets[0]?.id });
    });

    test.each<PetQuery>([
      { limit: 0 },
      { limit: 101 },
      { limit: 1.5 },
      { limit: Number.NaN },
      { limit: '5' as unknown as number },
      { status: 'Sold' as 'sold' },
      { status: null as unknown as 'sold' },
      { after: -1n },
      { after: 2n ** 63n },
      { after: 1 as unknown as bigint },
    ])('what breaks a rule of a page is invalid_request: %o', async (query) => {
      const catalogue = await catalogueOnStorage();
      expect(await codeOf(() => catalogue.listPets(query))).toBe('invalid_request');
    });

    test('any additions, any limit and filter: following next gives exactly the matching animals in order', async () => {
      const catalogue = await catalogueOnStorage();
      const added: Pet[] = [];
      await fc.assert(
        fc.asyncProperty(
          fc.array(animals, { maxLength: 15 }),
          fc.integer({ min: 1, max: 100 }),
          maybeStatuses,
          async (newPets, limit, status) => {
            for (const newPet of newPets) added.push(await catalogue.createPet(newPet));
            const matching = added.filter((pet) => status === undefined || pet.status === status);
            expect(await everyPage(catalogue, { limit, status })).toStrictEqual(matching);
          },
        ),
        { numRuns: 25 },
      );
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

    test.each(['', ' ', 'a b', 'k\n', 'ключ', '\u007f', 'k'.repeat(256)])(
      'the idempotency key %j is refused, and nothing is added',
      async (key) => {
        const catalogue = await catalogueOnStorage();
        expect(await codeOf(() => catalogue.createPet(animal(), { holder: 'the zoo', key }))).toBe('invalid_request');
        expect((await catalogue.listPets()).pets).toEqual([]);
      },
    );
  });
}
