import { LIMITS, PET_STATUSES, type Pet } from '@animal-store/domain';
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

  test('gives calls at the same time the page that each asked for', async ({ pets }) => {
    const statuses = [undefined, ...PET_STATUSES];
    const created: Pet[] = [];
    for (const status of [...statuses, ...statuses, ...statuses]) created.push(await added(pets, rex({ status })));
    const afters = [0n, 2n ** 32n, 2n ** 53n, (created[3] as Pet).id, (created.at(-1) as Pet).id, LIMITS.id.max];
    const selections = afters.flatMap((after) =>
      [1, 2, 5, 101].flatMap((limit) => statuses.map((status) => ({ after, limit, status }))),
    );
    const pages = await Promise.all(selections.map((selection) => pets.list(selection)));
    for (const [index, { after, limit, status }] of selections.entries()) {
      const matching = created.filter((pet) => pet.id > after && (status === undefined || pet.status === status));
      expect(pages[index], `after ${after}, limit ${limit}, status ${status}`).toStrictEqual(matching.slice(0, limit));
    }
  });
}
