import { type Catalogue, createCatalogue, LIMITS, PET_STATUSES, type Pet, type PetQuery } from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { failureOf } from './every-call.ts';
import { rex } from './samples.ts';
import { emptyStorage, type StorageUnderTest } from './storage-under-test.ts';

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

/** The use cases of the catalogue on a storage. The domain tests what they reject by themselves. */
export function catalogueContract<Place>(adapter: StorageUnderTest<Place>): void {
  const catalogueOnStorage = async () => createCatalogue((await emptyStorage(adapter)).pets);

  describe('the catalogue', () => {
    test('reads and lists a pet that was created', async () => {
      const catalogue = await catalogueOnStorage();
      const pet = await catalogue.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(pet).toStrictEqual({ id: pet.id, name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(await catalogue.getPet(pet.id)).toStrictEqual(pet);
      expect(await catalogue.listPets()).toStrictEqual({ pets: [pet], next: null });
    });

    test('lists a thousand pets page by page, all and by each status', async () => {
      const catalogue = await catalogueOnStorage();
      const all: Pet[] = [];
      for (let batch = 0; batch < 10; batch += 1) {
        const pets = Array.from({ length: 100 }, (_, index) =>
          catalogue.createPet(rex({ name: `${batch}-${index}`, status: PET_STATUSES[index % 4] })),
        );
        all.push(...(await Promise.all(pets)));
      }
      all.sort((a, b) => Number(a.id - b.id));
      expect(await everyPage(catalogue, { limit: 7 })).toStrictEqual(all);
      // The use case asks for one pet more than the largest page: a driver may cut what it returns at once.
      expect(await everyPage(catalogue, { limit: LIMITS.page.max })).toStrictEqual(all);
      for (const status of PET_STATUSES) {
        const matching = all.filter((pet) => pet.status === status);
        expect(matching).toHaveLength(250);
        expect(await everyPage(catalogue, { limit: 50, status })).toStrictEqual(matching);
      }
    });

    test('creates one pet for an idempotency key, and rejects another pet under it', async () => {
      const catalogue = await catalogueOnStorage();
      const name = { holder: 'the zoo', key: 'k-1' };
      const pet = await catalogue.createPet(rex(), name);
      expect(await catalogue.createPet(rex(), name)).toStrictEqual(pet);
      for (const other of [{ name: 'Max' }, { categoryId: 8n }, { status: 'sold' as const }]) {
        expect(await failureOf(() => catalogue.createPet(rex(other), name))).toMatchObject({
          code: 'idempotency_key_reused',
        });
      }
      expect(await catalogue.createPet(rex(), { ...name, holder: 'another zoo' })).not.toStrictEqual(pet);
      expect((await catalogue.listPets()).pets).toHaveLength(2);
    });
  });
}
