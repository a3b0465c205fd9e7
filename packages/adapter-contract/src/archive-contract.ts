import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@animal-store/domain';
import type { PetArchive, Storage, StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { failureOf } from './calls.ts';
import { inEach, RECOVERY_LIMIT, recovered } from './interruption.ts';
import { expectNoLateCreations } from './late-creations.ts';
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
import { opened, type StorageUnderTest, TEST_LIMIT, testOf } from './storage-under-test.ts';

const createdAt = 1_800_000_000_123;

/** As many pets as a call moves at most, each as long as it may be. */
const longest = Array.from({ length: 1_000 }, (_, index): StoredPet => {
  const pet = { ...LONGEST_PET, name: LONGEST_NAME };
  const key = { holder: 'é'.repeat(100), key: String(index).padStart(255, 'k') };
  return { id: BigInt(3 * index + 1), ...pet, createdAt, idempotency: idempotencyOf(pet, key) };
});

/** The adapters whose archives are tested. */
export const archivesUnderTest = new WeakSet<object>();

/** Declares the tests of a storage that has an archive, which moves pets to another place. */
export function archiveContract<Place>(name: string, adapter: StorageUnderTest<Place>): void {
  archivesUnderTest.add(adapter);
  const test = testOf(adapter).extend<{ archive: PetArchive }>({
    async archive({ storage }, use) {
      expect(storage.archive, 'the archive of the storage').toBeDefined();
      await use(storage.archive as PetArchive);
    },
  });

  describe(`${name} fulfils the contract of an archive:`, { timeout: TEST_LIMIT }, () => {
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
        const idempotency = key && idempotencyOf(pet, { ...key, key: `${index}${key.key}`.slice(0, 255) });
        const id = BigInt(2 * index + 10_001);
        const time = [FARTHEST_TIME, -FARTHEST_TIME][index] ?? createdAt - index;
        return { id, ...pet, createdAt: time, ...(idempotency && { idempotency }) };
      });
      await archive.restore(longest);
      await archive.restore(others);
      expect(await archive.read(0n, 1_000)).toStrictEqual(longest);
      expect(await archive.read(10_000n, 1_000)).toStrictEqual(others);
      const asPets = [...longest, ...others].map(({ createdAt: _, idempotency: __, ...pet }) => pet);
      expect(await everyPage(pets)).toStrictEqual(asPets);
      const available = asPets.filter(({ status }) => status === 'available');
      expect(await everyPage(pets, { status: 'available' })).toStrictEqual(available);
    });

    test('restores idempotency keys, and the next ids are above those of all pets', async ({
      place,
      storage,
      pets,
      archive,
    }) => {
      const before = await added(pets);
      const idempotency = idempotencyOf(rex(), 'k1');
      // A storage may reserve ids, or skip some.
      const highest = LIMITS.id.maxAssigned - 10_000n;
      await archive.restore([
        { id: highest - 2n, ...rex(), createdAt },
        { id: highest, ...rex(), createdAt, idempotency },
      ]);
      await archive.restore([{ id: 2n ** 39n, ...rex(), createdAt }]);
      const max = rex({ name: 'Max' });
      for (const { pets } of [storage, await opened(adapter, place)]) {
        expect(await pets.add(rex(), idempotency)).toEqual({ pet: { id: highest, ...rex() }, created: false });
        expect(await pets.add(max, idempotencyOf(max, 'k1'))).toBeNull();
        const next = await added(pets);
        expect(next.id).toBeGreaterThan(highest);
        expect(await pets.find(next.id)).toEqual(next);
        expect(await pets.list({ after: next.id - 1n, limit: 2 })).toEqual([next]);
      }
      expect(await everyPage(pets)).toHaveLength(6);
      expect(await pets.find(before.id)).toEqual(before);
    });

    test('skips the ids up to one, and is never set back', async ({ place, storage, pets, archive }) => {
      expect(await archive.lastId()).toBe(0n);
      await archive.skipIds(0n);
      const { id } = await added(pets);
      expect(await archive.lastId()).toBeGreaterThanOrEqual(id);
      const skipped = LIMITS.id.maxAssigned - 10_000n;
      await archive.skipIds(skipped);
      await archive.skipIds(id);
      expect(await archive.lastId()).toBeGreaterThanOrEqual(skipped);
      for (const { pets } of [storage, await opened(adapter, place)]) {
        expect((await added(pets)).id).toBeGreaterThan(skipped);
      }
      const last = (await everyPage(pets)).at(-1)?.id;
      expect(await archive.lastId()).toBeGreaterThanOrEqual(last ?? 0n);
    });

    test('assigns ids above the highest of a call, however far it is above the others', async ({ pets, archive }) => {
      const stored = [10n, 20n, 5_000n].map((id): StoredPet => ({ id, ...rex(), createdAt }));
      await archive.restore(stored);
      expect(await archive.read(0n, 10)).toStrictEqual(stored);
      for (let count = 0; count < 30; count += 1) expect((await added(pets)).id).toBeGreaterThan(5_000n);
      expect(await archive.read(0n, 3)).toStrictEqual(stored);
    });

    test('lists restored pets in the order of their ids, whatever their number of digits', async ({
      pets,
      archive,
    }) => {
      const ids = Array.from({ length: 15 }, (_, digits) => [
        10n ** BigInt(digits + 1) - 1n,
        10n ** BigInt(digits + 1),
      ]);
      const stored = ids.flat().map((id, index) => ({ id, ...rex({ status: index % 3 === 0 ? 'sold' : undefined }) }));
      await archive.restore(stored.map((pet) => ({ ...pet, createdAt })));
      const sold = stored.filter(({ status }) => status === 'sold');
      for (const limit of [100, 7, 1]) {
        expect(await everyPage(pets, { limit })).toStrictEqual(stored);
        expect(await everyPage(pets, { limit, status: 'sold' })).toStrictEqual(sold);
      }
      expect((await archive.read(0n, 100)).map(({ id }) => id)).toEqual(ids.flat());
    });

    const { proxyOf } = adapter;
    if (proxyOf !== undefined) {
      test('completes a restore that was interrupted if it is repeated', async ({ place, storage, pets, archive }) => {
        const proxy = proxyOf(place);
        for (let chunks = 1; chunks <= 8; chunks += 1) {
          await storage.ready();
          const stored = Array.from({ length: 100 }, (_, index): StoredPet => {
            const pet = rex({ name: `Rex ${chunks}`, status: 'sold' });
            return {
              id: BigInt(chunks * 1_000 + index * 5),
              ...pet,
              createdAt,
              idempotency: idempotencyOf(pet, `k${chunks}-${index}`),
            };
          });
          const amid = proxy.afterChunks(chunks);
          await Promise.race([failureOf(() => archive.restore(stored)), amid]);
          proxy.cut();
          proxy.pass();
          await recovered(storage);
          const after = BigInt(chunks * 1_000 - 1);
          // Each pet is whole, or not there yet.
          for (const pet of await archive.read(after, 1_000)) expect(stored).toContainEqual(pet);
          await archive.restore(stored);
          expect(await archive.read(after, 1_000), `interrupted after ${chunks} chunks`).toStrictEqual(stored);
          const [{ idempotency, createdAt: _, ...first } = stored[0] as StoredPet] = stored;
          const { id, ...newPet } = first;
          expect(await pets.add(newPet, idempotency)).toStrictEqual({ pet: { id, ...newPet }, created: false });
          expect((await everyPage(pets, { status: 'sold' })).filter(({ name }) => name === newPet.name)).toHaveLength(
            100,
          );
        }
      });
    }

    test('leaves out pets whose id or idempotency key is stored', async ({ archive }) => {
      const first: StoredPet = { id: 5n, ...rex(), createdAt, idempotency: idempotencyOf(rex(), 'k1') };
      const last: StoredPet = { id: 7n, ...rex(), createdAt };
      await archive.restore([first]);
      await archive.restore([{ ...first, name: 'Max' }, { ...first, id: 6n }, last]);
      expect(await archive.read(0n, 1_000)).toStrictEqual([first, last]);
      await archive.restore([first, last]);
      await archive.restore([]);
      expect(await archive.read(0n, 1_000)).toStrictEqual([first, last]);
    });

    const { waits = {}, outages } = adapter;
    const all = Object.entries({ ...(outages === 'not tested' ? {} : outages), ...waits });
    if (all.length > 0) {
      test('begins no creation after its call has failed, in any outage, and creates again within a second of a wait', () =>
        inEach(adapter, all, (interruption, { executes }, index) => {
          const recovery = (all[index] as (typeof all)[number])[0] in waits ? undefined : RECOVERY_LIMIT;
          return expectNoLateCreations(interruption.storage as Required<Storage>, interruption, { executes, recovery });
        }));
    }
  });
}
