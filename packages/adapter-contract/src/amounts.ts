// Amounts: as much as an engine cuts or rejects. A place is filled, and then read in every way.

import { type ApiKey, LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import { ALL_PETS, type Idempotency, type StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { atOnce, failureOf, patiently } from './calls.ts';
import {
  added,
  apiKey,
  everyKey,
  everyPage,
  expectSame,
  FULL_PET,
  idempotencyOf,
  inOrderOfIds,
  inOrderOfKeyIds,
  LONGEST_NAME,
  LONGEST_PET,
  longestKeyOf,
  MOVED,
  newPets,
  petAt,
  rex,
  SELECTIONS,
  selected,
} from './samples.ts';
import { archiveTestOf, opened, type StorageTest, type StorageUnderTest } from './storage-under-test.ts';

/** Pets that fill a place. */
interface Amount {
  readonly count: number;
  /** So many are created at once. */
  readonly atOnce: number;
  creationOf(index: number): readonly [newPet: NewPet, idempotency?: Idempotency];
}

const anyPets = fc.sample(newPets, 220);

const AMOUNTS: Readonly<Record<string, Amount>> = {
  'a thousand pets at once': { count: 1_000, atOnce: 1_000, creationOf: (index) => [rex({ name: `Rex ${index}` })] },
  'a thousand pets at once, each with an idempotency key': {
    ...{ count: 1_000, atOnce: 1_000, creationOf: (index) => [rex(), idempotencyOf(rex(), `k${index}`)] },
  },
  'more of the largest pets than any engine sends at once, and another one behind them': {
    ...{ count: 1_001, atOnce: 100 },
    creationOf(index) {
      const pet = index < 1_000 ? { ...LONGEST_PET, name: LONGEST_NAME } : FULL_PET;
      return [pet, idempotencyOf(pet, longestKeyOf(index))];
    },
  },
  'any pets, more than a page has': {
    ...{ count: 220, atOnce: 220, creationOf: (index) => [index % 2 === 0 ? FULL_PET : (anyPets[index] as NewPet)] },
  },
};

/** The results of calls, so many at once. */
async function inTurns<Result>(amount: Amount, count: number, call: (index: number) => Promise<Result>) {
  const results: Result[] = [];
  for (let done = 0; done < count; done = results.length)
    results.push(...(await atOnce(Math.min(amount.atOnce, count - done), (index) => call(done + index))));
  return results;
}

export function amountsContract(test: StorageTest): void {
  test.for(Object.entries(AMOUNTS))('creates, finds and lists %s', async ([, amount], { pets }) => {
    expect(await everyPage(pets)).toEqual([]);
    const create = (index: number) => added(pets, ...amount.creationOf(index));
    const created = await inTurns(amount, amount.count, create);
    const stored = await everyPage(pets);
    const ids = new Set(created.map(({ id }) => id));
    // A creation that was too slow may be stored, too.
    expectSame(
      stored.filter(({ id }) => ids.has(id)),
      inOrderOfIds(created),
    );
    // A driver may cut at a number of its own what it returns at once.
    const { maxRead } = LIMITS.page;
    for (const filters of SELECTIONS)
      for (const limit of [17, maxRead - 2, maxRead - 1, maxRead])
        expectSame(await everyPage(pets, { ...filters, limit }), selected(stored, filters));

    if (amount.creationOf(0)[1]) {
      expect(stored).toHaveLength(created.length);
      expectSame(await inTurns(amount, created.length, create), created);
    }
    const each = (read: (pet: Pet) => Promise<unknown>) =>
      inTurns(amount, stored.length, (index) => read(stored[index] as Pet));
    expectSame(await each(({ id }) => pets.find(id)), stored);
    expectSame(
      await each(() => pets.find((stored[0] as Pet).id)),
      stored.map(() => stored[0]),
    );
    expectSame(
      await each(({ id }) => pets.list({ ...ALL_PETS, after: id, limit: 2 })),
      stored.map((_, index) => stored.slice(index + 1, index + 3)),
    );
  });

  test('lists each of 1,100 API keys once, in order of id over all pages of any size', async ({ keys }) => {
    expect(await everyKey(keys)).toEqual([]);
    const stored: ApiKey[] = [];
    // Engines cut what they return at 1,000 or 1,024.
    for (const [count, limits] of [
      [240, [1, 20, LIMITS.page.maxRead]],
      [1_100, [LIMITS.page.maxRead]],
    ] as const) {
      // On a busy machine all at once could take longer than a call may.
      while (stored.length < count) {
        const records = await atOnce(20, () => apiKey({ createdAt: (stored.length * 7) % 3 }));
        await Promise.all(records.map((record) => keys.add(record)));
        stored.push(...records);
      }
      const sorted = inOrderOfKeyIds(stored);
      for (const limit of limits) expectSame(await everyKey(keys, limit), sorted, `pages of ${limit}`);
    }
    const between = apiKey();
    await keys.add(between);
    const { id } = inOrderOfKeyIds(stored)[99] as ApiKey;
    const later = inOrderOfKeyIds([...stored, between]).filter((record) => record.id > id);
    expectSame(await keys.list({ after: id, limit: 3 }), later.slice(0, 3));
  });
}

/** Those of an archive. */
export function archiveAmountsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = archiveTestOf(adapter);

  test('reads exactly the first 1,000 of 2,000 pets with consecutive ids, and the others', async ({ archive }) => {
    const halves = [0, MOVED].map((after) => Array.from({ length: MOVED }, (_, index) => petAt(after + index + 1)));
    for (const half of halves) await archive.restore(half);
    expectSame([await archive.read(0n, MOVED), await archive.read(BigInt(MOVED), MOVED)], halves);
  });

  const { setCounterBack } = adapter.operator ?? {};
  if (setCounterBack !== undefined) {
    test('creates again within 3 calls if its counter of ids is 4,000 behind', async ({ place, storage, archive }) => {
      // A repetition with an idempotency key may have used up an id. A free one ends the search.
      const isUsed = ({ id }: StoredPet) => id <= 3_000n || id % 4n !== 0n;
      const stored = Array.from({ length: 4_000 }, (_, index) => petAt(index + 1)).filter(isUsed);
      for (let done = 0; done < stored.length; done += MOVED) await archive.restore(stored.slice(done, done + MOVED));
      await storage.close();
      await setCounterBack(place);
      const { pets } = await opened(adapter, place);
      const ends: unknown[] = [];
      const add = () => pets.add(rex(), idempotencyOf(rex(), 'k1'));
      while (ends.length < 3 && ends.at(-1) !== null) ends.push(await failureOf(add));
      expect(ends.at(-1), `the end of call ${ends.length}`).toBeNull();
      expect(await patiently(add), 'repeated').toMatchObject({ created: false });
      const failures = await atOnce(20, () => failureOf(() => added(pets, rex())));
      for (const failure of failures) if (failure) throw failure;
    });
  }
}
