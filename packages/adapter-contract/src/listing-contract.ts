import { ALL_PETS } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { atOnce } from './calls.ts';
import { added, everyPage, inOrderOfIds, maybeStatuses, newPets, rex } from './samples.ts';
import type { StorageTest } from './storage-under-test.ts';

/** Pages of pets. */
export function listingContract(test: StorageTest): void {
  test('lists exactly the matching pets in order over all pages, for any pets, limit and status', async ({ pets }) => {
    expect(await pets.list({ ...ALL_PETS, after: 0n, limit: 20 })).toEqual([]);
    const create = (index: number) => added(pets, rex({ status: index % 2 === 0 ? 'sold' : undefined }));
    const stored = inOrderOfIds(await atOnce(220, create));
    // A driver may cut at a number of its own what it returns at once.
    for (const limit of [99, 100, 101]) {
      const sold = stored.filter(({ status }) => status === 'sold');
      expect(await pets.list({ ...ALL_PETS, after: 0n, limit })).toStrictEqual(stored.slice(0, limit));
      expect(await pets.list({ after: 0n, limit, status: 'sold' })).toStrictEqual(sold.slice(0, limit));
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(newPets, { maxLength: 12 }),
        fc.integer({ min: 1, max: 101 }),
        maybeStatuses,
        async (newPets, limit, status) => {
          for (const newPet of newPets) stored.push(await added(pets, newPet));
          const matching = stored.filter((pet) => status === undefined || pet.status === status);
          expect(await everyPage(pets, { limit, status })).toStrictEqual(matching);
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  });
}
