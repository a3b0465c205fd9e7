// Amounts: as much as an engine cuts or rejects. A place is filled, and then read in every way.

import { LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import { ALL_PETS, type Idempotency, type StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { atOnce, failureOf } from './calls.ts';
import { CALLERS } from './limits.ts';
import {
  added,
  apiKey,
  everyKey,
  everyPage,
  expectSame,
  FULL_PET,
  idempotencyOf,
  inOrderOfIds,
  LARGEST,
  MOVED,
  newPets,
  notoriousPets,
  petAt,
  rex,
  SELECTIONS,
  selected,
} from './samples.ts';
import { archiveTestOf, opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

/** Engines and drivers cut what they return at numbers of their own. */
const { maxRead } = LIMITS.page;
const PAGE_LIMITS = [17, maxRead - 2, maxRead - 1, maxRead];

const anyPets = [...notoriousPets, ...fc.sample(newPets, 200)];

/** The creations that fill a place, all at once. */
const AMOUNTS: Readonly<Record<string, readonly (readonly [newPet: NewPet, idempotency?: Idempotency])[]>> = {
  'a thousand of any pets': Array.from({ length: 1_000 }, (_, index) => [
    index % 2 === 0 ? FULL_PET : (anyPets[(index >> 1) % anyPets.length] as NewPet),
  ]),
  'a thousand of the largest pets, each with an idempotency key': LARGEST,
};

export function amountsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  test.for(Object.entries(AMOUNTS))('creates, finds and lists %s, at once', async ([, creations], { pets }) => {
    const create = () => Promise.all(creations.map((creation) => added(pets, ...creation)));
    const created = await create();
    const stored = await everyPage(pets);
    const ids = new Set(created.map(({ id }) => id));
    // A creation that was too slow may be stored, too.
    expectSame(
      stored.filter(({ id }) => ids.has(id)),
      inOrderOfIds(created),
    );
    for (const filters of SELECTIONS)
      for (const limit of PAGE_LIMITS)
        expectSame(await everyPage(pets, { ...filters, limit }), selected(stored, filters));
    if (creations[0]?.[1]) {
      expect(stored).toHaveLength(created.length);
      expectSame(await create(), created);
    }
    // Calls at the same time may share a statement, and ask for the same.
    const wanted = stored.map((pet, index) => (index % 5 === 0 ? stored[0] : pet) as Pet);
    expectSame(await Promise.all(wanted.map(({ id }) => pets.find(id))), wanted);
    expectSame(
      await Promise.all(stored.map(({ id }) => pets.list({ ...ALL_PETS, after: id, limit: 2 }))),
      stored.map((_, index) => stored.slice(index + 1, index + 3)),
    );
  });

  test('lists each of 1,100 API keys once, in order of id over all pages of any size', async ({ keys }) => {
    const records = Array.from({ length: 1_100 }, (_, index) => apiKey({ createdAt: index % 3 }));
    const left = records.values();
    await atOnce(CALLERS, async () => {
      for (const record of left) await keys.add(record);
    });
    for (const limit of PAGE_LIMITS)
      expectSame(await everyKey(keys, limit), inOrderOfIds(records), `pages of ${limit}`);
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
      const add = () => pets.add(rex(), idempotencyOf(rex(), 'k1'));
      for (let count = 0; count < 2; count += 1) await failureOf(add);
      expect(await failureOf(add), 'the end of the third call').toBeNull();
    });
  }
}
