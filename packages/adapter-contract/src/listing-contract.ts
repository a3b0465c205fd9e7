import { LIMITS, PET_STATUSES, type Pet, type PetStatus } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { added, everyPage, inOrderOfIds, maybeStatuses, newPets, rex } from './samples.ts';
import { emptyStorage, type StorageUnderTest } from './storage-under-test.ts';

/** Pages of pets. */
export function listingContract<Place>(adapter: StorageUnderTest<Place>): void {
  const petStore = async () => (await emptyStorage(adapter)).pets;

  /** Creates a pet with each status, one after the other. */
  async function createdWith(pets: PetStore, statuses: readonly (PetStatus | undefined)[]): Promise<Pet[]> {
    const created: Pet[] = [];
    for (const status of statuses) created.push(await added(pets, rex({ status })));
    return created;
  }

  describe('listing', () => {
    test('lists as many pets as the limit allows, for small and large limits', async () => {
      const pets = await petStore();
      expect(await pets.list({ after: 0n, limit: 20 })).toEqual([]);
      const created = inOrderOfIds(
        await Promise.all(
          Array.from({ length: 300 }, (_, index) => added(pets, rex({ status: index % 2 === 0 ? 'sold' : undefined }))),
        ),
      );
      const sold = created.filter(({ status }) => status === 'sold');
      const after = (created[9] as Pet).id;
      // A driver may cut at a number of its own what it returns at once.
      for (const limit of [1, 2, 20, 99, 100, 101, 102, 128, 149, 150, 151, 299, 300, 301, 10_000]) {
        expect(await pets.list({ after: 0n, limit })).toStrictEqual(created.slice(0, limit));
        expect(await pets.list({ after: 0n, limit, status: 'sold' })).toStrictEqual(sold.slice(0, limit));
        expect(await pets.list({ after, limit })).toStrictEqual(created.slice(10, 10 + limit));
      }
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
            expect(await everyPage(pets, { limit, status })).toStrictEqual(matching);
          },
        ),
        { numRuns: 25, endOnFailure: true },
      );
    });

    test.each([undefined, 'available'] as const)(
      'lists every pet that existed at the start exactly once over all pages, while others are created (status %s)',
      async (status) => {
        const pets = await petStore();
        const create = (length: number) =>
          Promise.all(Array.from({ length }, () => added(pets, rex({ status: 'available' }))));
        const atStart = inOrderOfIds(await create(60));
        const seen: Pet[] = [];
        for (let page: readonly Pet[] = atStart; page.length > 0; ) {
          page = await pets.list({ status, after: seen.at(-1)?.id ?? 0n, limit: 7 });
          seen.push(...page);
          // These are fewer pets than a page has, so that the pages end.
          if (page.length === 7) await create(3);
        }
        expect(seen.slice(0, 60)).toEqual(atStart);
        expect(seen).toEqual(inOrderOfIds(seen));
        expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
      },
    );

    test('lists by the argument as it was at the call, although the caller changes it afterwards', async () => {
      const pets = await petStore();
      const created = await createdWith(pets, ['sold', 'available', 'sold', 'sold']);
      const call = () => {
        const selection = { after: (created[0] as Pet).id, limit: 2, status: 'sold' as PetStatus };
        const page = pets.list(selection);
        Object.assign(selection, { after: 0n, limit: 1, status: 'available' });
        return page;
      };
      // Some of many calls at once have to wait.
      for (const page of await Promise.all(Array.from({ length: 30 }, call))) expect(page).toEqual(created.slice(2));
    });

    test('gives calls at the same time the page that each asked for', async () => {
      const pets = await petStore();
      const statuses = [undefined, ...PET_STATUSES];
      const created = await createdWith(pets, [...statuses, ...statuses, ...statuses]);
      const afters = [0n, (created[3] as Pet).id, (created.at(-1) as Pet).id, LIMITS.id.max];
      const selections = afters.flatMap((after) =>
        [1, 2, 5, 100, 150].flatMap((limit) => statuses.map((status) => ({ after, limit, status }))),
      );
      const pages = await Promise.all(selections.map((selection) => pets.list(selection)));
      for (const [index, { after, limit, status }] of selections.entries()) {
        const matching = created.filter((pet) => pet.id > after && (status === undefined || pet.status === status));
        expect(pages[index], `${after} ${limit} ${status}`).toStrictEqual(matching.slice(0, limit));
      }
    });
  });
}
