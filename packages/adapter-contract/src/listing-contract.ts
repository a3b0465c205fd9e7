import { LIMITS, PET_STATUSES, type Pet, type PetStatus } from '@animal-store/domain';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { added, everyPage, maybeStatuses, newPets, rex } from './samples.ts';
import { emptyStorage, type StorageUnderTest } from './storage-under-test.ts';

/** Pages of pets. */
export function listingContract<Place>(adapter: StorageUnderTest<Place>): void {
  const petStore = async () => (await emptyStorage(adapter)).pets;

  describe('listing', () => {
    test('lists nothing in an empty storage', async () => {
      const pets = await petStore();
      expect(await pets.list({ after: 0n, limit: 20 })).toEqual([]);
      expect(await pets.list({ after: 0n, limit: 20, status: 'sold' })).toEqual([]);
    });

    test('begins a page after the given id, and ends it at its limit', async () => {
      const pets = await petStore();
      const ids: bigint[] = [];
      for (let count = 0; count < 5; count += 1) ids.push((await added(pets)).id);
      const page = async (after: bigint, limit: number) => (await pets.list({ after, limit })).map(({ id }) => id);
      expect(await page(0n, 2)).toEqual(ids.slice(0, 2));
      expect(await page(ids[1] as bigint, 2)).toEqual(ids.slice(2, 4));
      expect(await page(ids[3] as bigint, 101)).toEqual(ids.slice(4));
      expect(await page(ids[4] as bigint, 1)).toEqual([]);
      expect(await page(LIMITS.id.max, 1)).toEqual([]);
    });

    test('lists as many pets as the limit allows, for small and large limits', async () => {
      const pets = await petStore();
      const created = await Promise.all(
        Array.from({ length: 300 }, (_, index) => added(pets, rex({ status: index % 2 === 0 ? 'sold' : undefined }))),
      );
      created.sort((a, b) => Number(a.id - b.id));
      const sold = created.filter(({ status }) => status === 'sold');
      const after = (created[9] as Pet).id;
      // A driver may cut at a number of its own what it returns at once.
      for (const limit of [1, 2, 20, 99, 100, 101, 102, 128, 149, 150, 151, 299, 300, 301, 10_000]) {
        expect(await pets.list({ after: 0n, limit })).toStrictEqual(created.slice(0, limit));
        expect(await pets.list({ after: 0n, limit, status: 'sold' })).toStrictEqual(sold.slice(0, limit));
        expect(await pets.list({ after, limit })).toStrictEqual(created.slice(10, 10 + limit));
      }
    });

    test('lists the pets of a status by it, and pets without one only among all', async () => {
      const pets = await petStore();
      const names = ['available', 'none', 'sold', 'available', 'pending', 'none', 'sold'];
      for (const name of names) {
        await added(pets, rex({ name, status: name === 'none' ? undefined : (name as PetStatus) }));
      }
      const listed = async (status?: PetStatus) =>
        (await pets.list({ status, after: 0n, limit: 100 })).map(({ name }) => name);
      expect(await listed()).toEqual(names);
      for (const status of PET_STATUSES) expect(await listed(status)).toEqual(names.filter((name) => name === status));
    });

    test('lists exactly the matching pets in order over all pages, for any pets, limit and status', async () => {
      const pets = await petStore();
      const stored: Pet[] = [];
      await fc.assert(
        fc.asyncProperty(
          fc.array(newPets, { maxLength: 12 }),
          fc.integer({ min: 1, max: 101 }),
          maybeStatuses,
          async (newPets, limit, status) => {
            for (const newPet of newPets) stored.push(await added(pets, newPet));
            const matching = stored.filter((pet) => status === undefined || pet.status === status);
            expect(await everyPage(pets, { limit, ...(status !== undefined && { status }) })).toStrictEqual(matching);
          },
        ),
        { numRuns: 25, endOnFailure: true },
      );
    });

    test('lists every pet that existed at the start exactly once over all pages, while others are created', async () => {
      const pets = await petStore();
      const first = await Promise.all(Array.from({ length: 60 }, () => added(pets, rex({ status: 'available' }))));
      const atStart = first.map(({ id }) => id).sort((a, b) => Number(a - b));
      for (const selection of [{}, { status: 'available' }] as const) {
        const seen = await everyPage(pets, {
          ...selection,
          limit: 7,
          // Fewer than a page, so that the pages end.
          between: () => Promise.all(Array.from({ length: 3 }, () => added(pets, rex({ status: 'available' })))),
        });
        const ids = seen.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => Number(a - b)));
        expect(ids.filter((id) => atStart.includes(id))).toEqual(atStart);
      }
    });

    test('lists what it was asked for when it was called, whatever happens to the argument afterwards', async () => {
      const pets = await petStore();
      const created: Pet[] = [];
      for (const status of ['sold', 'available', 'sold', 'sold'] as const) {
        created.push(await added(pets, rex({ status })));
      }
      const call = () => {
        const selection = { after: (created[0] as Pet).id, limit: 2, status: 'sold' as PetStatus };
        const page = pets.list(selection);
        Object.assign(selection, { after: 0n, limit: 1, status: 'available' });
        return page;
      };
      // Many at once, so that some have to wait.
      for (const page of await Promise.all(Array.from({ length: 30 }, call))) expect(page).toEqual(created.slice(2));
    });

    test('gives calls at the same time the page that each asked for', async () => {
      const pets = await petStore();
      const created: Pet[] = [];
      for (let index = 0; index < 12; index += 1) {
        created.push(await added(pets, rex({ status: PET_STATUSES[index % 4] })));
      }
      const selections = [0n, (created[3] as Pet).id].flatMap((after) =>
        [1, 2, 5, 100, 150].flatMap((limit) =>
          [undefined, ...PET_STATUSES].map((status) => ({ after, limit, status })),
        ),
      );
      const pages = await Promise.all(selections.map((selection) => pets.list(selection)));
      for (const [index, { after, limit, status }] of selections.entries()) {
        const matching = created.filter((pet) => pet.id > after && (status === undefined || pet.status === status));
        expect(pages[index], `${after} ${limit} ${status}`).toStrictEqual(matching.slice(0, limit));
      }
    });
  });
}
