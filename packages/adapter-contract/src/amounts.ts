// Amounts: as much as an engine cuts or rejects, as rows of calls that fill a place, and then read it.

import type { ApiKey, Pet } from '@animal-store/domain';
import { ALL_PETS, type StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { atOnce, failureOf, patiently, thousandAtOnce } from './calls.ts';
import {
  added,
  apiKey,
  everyKey,
  everyPage,
  idempotencyOf,
  inOrderOfIds,
  inOrderOfKeyIds,
  LONGEST_NAME,
  LONGEST_PET,
  maybeStatuses,
  newPets,
  petAt,
  rex,
} from './samples.ts';
import { archiveTestOf, opened, type StorageTest, type StorageUnderTest } from './storage-under-test.ts';

export function amountsContract(test: StorageTest): void {
  test('serves a thousand calls at once, of each kind', async ({ pets }) => {
    const pet = await added(pets);
    for (const found of await thousandAtOnce(() => pets.find(pet.id))) expect(found).toStrictEqual(pet);
    for (const page of await thousandAtOnce(() => pets.list({ ...ALL_PETS, after: 0n, limit: 1 })))
      expect(page).toStrictEqual([pet]);
    const created = await thousandAtOnce((index) => added(pets, rex({ name: `Rex ${index}` })));
    const all = inOrderOfIds([pet, ...created]);
    // A creation that was too slow may be stored, too.
    const ids = new Set(all.map(({ id }) => id));
    expect((await everyPage(pets)).filter(({ id }) => ids.has(id))).toEqual(all);
  });

  test('serves a thousand calls at once, each with a key, an id and a page of its own', async ({ pets }) => {
    const create = (index: number) => added(pets, rex(), idempotencyOf(rex(), `k${index}`));
    const created = await thousandAtOnce(create);
    const stored = inOrderOfIds(created);
    expect(await thousandAtOnce(create)).toStrictEqual(created);
    expect(await thousandAtOnce((index) => pets.find((stored[index] as Pet).id))).toStrictEqual(stored);
    const pages = await thousandAtOnce((index) =>
      pets.list({ ...ALL_PETS, after: (stored[index] as Pet).id, limit: 2 }),
    );
    expect(pages).toStrictEqual(stored.map((_, index) => stored.slice(index + 1, index + 3)));
  });

  test('lists the largest pets, more than any engine sends at once, and one with another status behind them', async ({
    pets,
  }) => {
    const largest = { ...LONGEST_PET, name: LONGEST_NAME };
    const create = (number: number) => {
      const key = { holder: LONGEST_NAME.slice(0, 200), key: String(number).padStart(255, 'k') };
      return added(pets, largest, idempotencyOf(largest, key));
    };
    const created: Pet[] = [];
    while (created.length < 1_000) created.push(...(await atOnce(100, (index) => create(created.length + index))));
    const stored = inOrderOfIds([...created, await added(pets, rex({ status: 'sold' }))]);
    expect(await pets.list({ after: 0n, limit: 2, status: 'sold' })).toStrictEqual(stored.slice(-1));
    for (const limit of [101, 99]) expect(await everyPage(pets, { limit })).toStrictEqual(stored);
    expect(await everyPage(pets, { limit: 101, status: 'available' })).toStrictEqual(stored.slice(0, -1));
  });

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

  test('lists each of 1,100 records once, in order of id over all pages of any size', async ({ keys }) => {
    expect(await everyKey(keys)).toEqual([]);
    // Engines cut what they return at 1,000 or 1,024.
    const records = Array.from({ length: 1_100 }, (_, index) => apiKey({ createdAt: (index * 7) % 3 }));
    const stored: ApiKey[] = [];
    const addUntil = async (count: number) => {
      // On a busy machine all at once could take longer than a call may.
      while (stored.length < count) {
        const next = records.slice(stored.length, stored.length + 20);
        await Promise.all(next.map((record) => keys.add(record)));
        stored.push(...next);
      }
      return inOrderOfKeyIds(stored);
    };
    const few = await addUntil(240);
    for (const limit of [101, 20, 1]) expect(await everyKey(keys, limit), `pages of ${limit}`).toEqual(few);
    const sorted = await addUntil(records.length);
    expect(await everyKey(keys)).toEqual(sorted);
    const [before, between] = [sorted[99] as ApiKey, apiKey()];
    await keys.add(between);
    expect(await keys.list({ after: before.id, limit: 3 })).toEqual(
      inOrderOfKeyIds([...sorted, between].filter(({ id }) => id > before.id)).slice(0, 3),
    );
  });
}

/** Those of an archive. */
export function archiveAmountsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = archiveTestOf(adapter);

  test('reads exactly the first 1,000 of 2,000 pets with consecutive ids, and the others', async ({ archive }) => {
    const halves = [0, 1_000].map((after) => Array.from({ length: 1_000 }, (_, index) => petAt(after + index + 1)));
    for (const half of halves) await archive.restore(half);
    expect([await archive.read(0n, 1_000), await archive.read(1_000n, 1_000)]).toStrictEqual(halves);
  });

  const { setCounterBack } = adapter.operator ?? {};
  if (setCounterBack !== undefined) {
    test('creates again within 3 calls if its counter of ids is 4,000 behind', async ({ place, storage, archive }) => {
      // A repetition with an idempotency key may have used up an id. A free one ends the search.
      const isUsed = ({ id }: StoredPet) => id <= 3_000n || id % 4n !== 0n;
      const stored = Array.from({ length: 4_000 }, (_, index) => petAt(index + 1)).filter(isUsed);
      for (let done = 0; done < stored.length; done += 1_000) await archive.restore(stored.slice(done, done + 1_000));
      await storage.close();
      await setCounterBack(place);
      const { pets } = await opened(adapter, place);
      const ends: unknown[] = [];
      const add = () => pets.add(rex(), idempotencyOf(rex(), 'k1'));
      while (ends.length < 3 && ends.at(-1) !== null) ends.push(await failureOf(add));
      expect(ends.at(-1), `the end of call ${ends.length}`).toBeNull();
      expect(await patiently(add), 'repeated').toMatchObject({ created: false });
      const failures = await atOnce(20, () => failureOf(() => added(pets, rex())));
      expect(failures.filter((failure) => failure !== null)).toEqual([]);
    });
  }
}
