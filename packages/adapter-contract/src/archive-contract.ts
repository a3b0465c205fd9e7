import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError, LIMITS, PET_STATUSES } from '@animal-store/domain';
import type { PetArchive, StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { atOnce, failureOf, patiently } from './calls.ts';
import {
  added,
  everyPage,
  FARTHEST_TIME,
  idempotencyKeys,
  idempotencyOf,
  LONGEST_NAME,
  LONGEST_PET,
  newPets,
  notoriousPets,
  rex,
} from './samples.ts';
import { leading, opened, type StorageUnderTest, TEST_LIMIT, testOf } from './storage-under-test.ts';

const createdAt = 1_800_000_000_123;

/**
 * As many pets as a call moves at most, each as long as it may be. An engine that divides ids among 2 to 8, 16, 32 or 64
 * partitions has all of them in one, and cuts what it returns of this one.
 */
const longest = Array.from({ length: 1_000 }, (_, index): StoredPet => {
  // A list of this status has to read all others first.
  const pet = { ...LONGEST_PET, name: LONGEST_NAME, ...(index === 999 && { status: 'sold' as const }) };
  const key = { holder: 'é'.repeat(100), key: String(index).padStart(255, 'k') };
  return { id: BigInt(6_720 * index + 1), ...pet, createdAt, idempotency: idempotencyOf(pet, key) };
});

const petAt = (id: number): StoredPet => ({ id: BigInt(id), ...rex(), createdAt });

/** The adapters whose archives are tested. */
export const archivesUnderTest = new WeakSet<object>();

/** Declares the tests of a storage that has an archive, which moves pets to another place. */
export function archiveContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  archivesUnderTest.add(adapter);
  describe(`${name} fulfils the contract of an archive:`, { timeout: TEST_LIMIT }, () => {
    movingContract(adapter);
    for (const [name, lead] of Object.entries(adapter.behind ?? {})) {
      describe(`behind ${name}`, () => movingContract(leading(adapter, lead)));
    }
  });
}

/** The tests of an archive at a place that is available. */
function movingContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter).extend<{ archive: PetArchive }>({
    async archive({ storage }, use) {
      expect(storage.archive, 'the archive of the storage').toBeDefined();
      await use(storage.archive as PetArchive);
    },
  });

  test('reads pets with the idempotency keys and the times of their creation, page by page', async ({
    pets,
    archive,
  }) => {
    expect(await archive.read(0n, 1_000)).toEqual([]);
    const before = Date.now();
    const idempotency = idempotencyOf(rex(), { holder: '', key: 'k1' });
    const first = await added(pets, rex(), idempotency);
    await sleep(50);
    const second = await added(pets, rex({ status: 'sold' }));
    const [one, two] = await archive.read(0n, 1_000);
    expect(one).toStrictEqual({ ...first, createdAt: one?.createdAt, idempotency });
    expect(two).toStrictEqual({ ...second, createdAt: two?.createdAt });
    const times = [one?.createdAt ?? 0, two?.createdAt ?? 0];
    for (const time of times) {
      expect(Number.isInteger(time), `${time}`).toBe(true);
      // Of a server that may have another clock.
      expect(time).toBeGreaterThan(before - 60_000);
      expect(time).toBeLessThan(before + 60_000);
    }
    expect(times.filter((time) => time % 1_000 === 0).length, `whole seconds: ${times}`).toBeLessThan(2);
    expect(await archive.read(0n, 1)).toEqual([one]);
    expect(await archive.read(first.id, 1)).toEqual([two]);
    expect(await archive.read(second.id, 1)).toEqual([]);
    expect(await added(pets, rex(), idempotency)).toEqual(first);
    expect(await archive.read(0n, 1_000), 'after a repetition').toEqual([one, two]);
  });

  test('restores any pets as they were, 1,000 in a call', async ({ pets, archive }) => {
    const samples = fc.sample(fc.tuple(newPets, fc.option(idempotencyKeys)), 100);
    const any = [...notoriousPets.map((pet) => [pet, null] as const), ...samples];
    const others = any.map(([pet, key], index): StoredPet => {
      // An operator may have changed the pet since.
      const first = index % 2 === 0 ? pet : rex();
      const idempotency = key && idempotencyOf(first, { ...key, key: `${index}${key.key}`.slice(0, 255) });
      // In other partitions, between the longest pets and behind them.
      const id = BigInt(67_200 * index + 2 + (index % 63));
      const time = [FARTHEST_TIME, -FARTHEST_TIME][index] ?? createdAt - index;
      return { id, ...pet, createdAt: time, ...(idempotency && { idempotency }) };
    });
    await archive.restore(longest);
    await archive.restore(others);
    const all = [...longest, ...others].toSorted((one, other) => Number(one.id - other.id));
    expect(await archive.read(0n, 1_000)).toStrictEqual(all.slice(0, 1_000));
    expect(await archive.read(all[999]?.id as bigint, 1_000)).toStrictEqual(all.slice(1_000));
    const asPets = all.map(({ createdAt: _, idempotency: __, ...pet }) => pet);
    expect(await everyPage(pets)).toStrictEqual(asPets);
    for (const status of PET_STATUSES) {
      expect(await everyPage(pets, { status })).toStrictEqual(asPets.filter((pet) => pet.status === status));
    }
  });

  test('skips the ids up to one, and is never set back', async ({ place, storage, pets, archive }) => {
    expect(await archive.lastId()).toBe(0n);
    await archive.skipIds(0n);
    const { id } = await added(pets);
    expect(await archive.lastId()).toBeGreaterThanOrEqual(id);
    const skipped = LIMITS.id.maxAssigned - 10_000n;
    // As texts these would descend. A restore skips those before its last one, too, also if that is deleted.
    for (const [index, to] of [9n, 80n, 700n, 6_000n, 50_000n, 10n ** 12n, skipped].entries()) {
      if (index % 2 === 0) await archive.skipIds(to);
      else await archive.restore([{ id: to, ...rex(), createdAt }]);
      await adapter.operator?.deletePet?.(place, to);
      expect(await archive.lastId()).toBeGreaterThanOrEqual(to);
    }
    await archive.skipIds(id);
    expect(await archive.lastId()).toBeGreaterThanOrEqual(skipped);
    for (const { pets } of [storage, await opened(adapter, place)]) {
      expect((await added(pets)).id).toBeGreaterThan(skipped);
    }
    const last = (await everyPage(pets)).at(-1)?.id;
    expect(await archive.lastId()).toBeGreaterThanOrEqual(last ?? 0n);
  });

  test('lists restored pets in the order of their ids, whatever their number of digits', async ({ pets, archive }) => {
    const ids = Array.from({ length: 15 }, (_, digits) => [10n ** BigInt(digits + 1) - 1n, 10n ** BigInt(digits + 1)]);
    const stored = ids.flat().map((id, index) => ({ id, ...rex({ status: index % 3 === 0 ? 'sold' : undefined }) }));
    await archive.restore(stored.map((pet) => ({ ...pet, createdAt })));
    const sold = stored.filter(({ status }) => status === 'sold');
    for (const limit of [100, 7, 1]) {
      expect(await everyPage(pets, { limit })).toStrictEqual(stored);
      expect(await everyPage(pets, { limit, status: 'sold' })).toStrictEqual(sold);
    }
    expect((await archive.read(0n, 100)).map(({ id }) => id)).toEqual(ids.flat());
  });

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

  test('assigns no id after the last one, 2^53 - 1, and repeats none', async ({ place, storage, pets, archive }) => {
    const pet = await added(pets);
    const last = { id: LIMITS.id.maxAssigned, ...rex({ name: 'Max' }) };
    await archive.restore([{ ...last, createdAt }]);
    for (const { pets } of [storage, await opened(adapter, place)]) {
      for (const idempotency of [undefined, idempotencyOf(rex(), 'k1')]) {
        const add = failureOf(() => pets.add(rex(), idempotency));
        const found = atOnce(10, () => pets.find(pet.id));
        const failure = await add;
        for (const each of await found) expect(each, 'found beside a defect').toStrictEqual(pet);
        expect(failure, 'the error of a creation').toBeInstanceOf(Error);
        expect(failure, 'the error of a creation').not.toSatisfy(DomainError.is);
      }
    }
    expect(await everyPage(pets)).toStrictEqual([pet, last]);
    expect(await archive.lastId()).toBe(last.id);
  });

  test('leaves out pets whose id or idempotency key is stored', async ({ pets, archive }) => {
    const first: StoredPet = { id: 5n, ...rex(), createdAt, idempotency: idempotencyOf(rex(), 'k1') };
    const last: StoredPet = { id: 7n, ...rex(), createdAt };
    await archive.restore([first]);
    const left = { ...first, name: 'Max', idempotency: idempotencyOf(rex(), 'k2') };
    await archive.restore([left, { ...first, id: 6n }, last]);
    expect(await archive.read(0n, 1_000)).toStrictEqual([first, last]);
    await archive.restore([first, last]);
    await archive.restore([]);
    expect(await archive.read(0n, 1_000)).toStrictEqual([first, last]);
    // More than an engine's planner takes for few.
    const idempotency = idempotencyOf(rex(), 'k3');
    await archive.restore(Array.from({ length: 300 }, (_, index) => ({ ...petAt(7 + index), idempotency })));
    const ids = (await archive.read(0n, 1_000)).map(({ id }) => id);
    expect(ids, 'after a call that has a key for a stored id, and for 299 others').toEqual([5n, 7n, 8n]);
    const max = rex({ name: 'Max' });
    expect(await pets.add(max, idempotencyOf(max, 'k2')), 'the key of a pet that was left out').toMatchObject({
      created: true,
    });
  });
}
