import { createMemoryStorage } from '@animal-store/adapter-memory';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { observed, UNAVAILABLE } from '../../test/ports.ts';
import { allPets } from './all-pets.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { PET_STATUSES, type Pet } from './pet.ts';
import type { PetQuery } from './pet-query.ts';

async function catalogueOf(count: number, pets = createMemoryStorage().pets): Promise<Catalogue> {
  const catalogue = createCatalogue(pets);
  for (let index = 0; index < count; index += 1) {
    await catalogue.createPet({ name: `${index}`, categoryId: 7n, status: PET_STATUSES[index % 3] as 'sold' });
  }
  return catalogue;
}

async function collect(pets: AsyncIterable<Pet>): Promise<bigint[]> {
  const ids: bigint[] = [];
  for await (const { id } of pets) ids.push(id);
  return ids;
}

const idsUpTo = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index + 1));

describe('allPets', () => {
  test('yields each matching pet once, in ascending order, from full pages of any size', async () => {
    const catalogue = await catalogueOf(30);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...PET_STATUSES, undefined),
        fc.option(fc.bigInt({ min: 0n, max: 40n }), { nil: undefined }),
        async (limit, status, after) => {
          const matching = idsUpTo(30)
            .filter((id) => id > (after ?? 0n))
            .filter((id) => status === undefined || PET_STATUSES[Number(id - 1n) % 3] === status);
          const listPets = vi.fn((query: PetQuery) => catalogue.listPets({ ...query, limit }));
          expect(await collect(allPets({ listPets }, { status, after }))).toEqual(matching);
          expect(listPets).toHaveBeenCalledTimes(Math.max(1, Math.ceil(matching.length / limit)));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('reads pages of 100 pets, each when the one before is consumed, and pets that are created meanwhile', async () => {
    const { pets, calls } = observed();
    const catalogue = await catalogueOf(200, pets);
    calls.length = 0;
    const ids: bigint[] = [];
    for await (const { id } of allPets(catalogue)) {
      ids.push(id);
      expect(calls.filter((name) => name === 'pets.list')).toHaveLength(Math.ceil(ids.length / 100));
      if (id === 1n) await catalogue.createPet({ name: 'Max', categoryId: 7n });
    }
    expect(ids).toEqual(idsUpTo(201));
  });

  test('rejects if a page cannot be read', async () => {
    const catalogue = createCatalogue(UNAVAILABLE.pets);
    const error = { code: 'invalid', message: 'after must be an id or 0, was -1' };
    await expect(collect(allPets(catalogue, { after: -1n }))).rejects.toMatchObject(error);
    await expect(collect(allPets(catalogue))).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});
