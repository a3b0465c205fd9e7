import type { Pet } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { atOnce, expectUnavailable, failureOf, failuresOf } from './calls.ts';
import { everyPet, inEach, recovered } from './interruption.ts';
import { added, apiKey, everyKey, idempotencyOf, inOrderOfIds, inOrderOfKeyIds, rex } from './samples.ts';
import type { Outages, StorageUnderTest } from './storage-under-test.ts';

/** So many are in each of some partitions. */
const COUNT = 60;

/** The behaviour of a storage while a part of its place is away, and afterwards. */
export function partialOutageContract<Place>(adapter: StorageUnderTest<Place>, outages: Outages<Place>): void {
  test('is right or unavailable in each call while a part of its place is away, and not ready if one is unavailable', () =>
    inEach(adapter, Object.entries(outages), async ({ storage, pet, key, begin, end }) => {
      const { pets, keys } = storage;
      const sold = rex({ status: 'sold' });
      const stored = inOrderOfIds([pet, ...(await atOnce(COUNT, () => added(pets, sold)))]);
      // Repeated, a revocation at the same time and a use at the same time change nothing.
      const records = Array.from({ length: COUNT }, () => apiKey({ revokedAt: 5, lastUsedAt: 7 }));
      for (const record of records) await keys.add(record);
      const known = inOrderOfKeyIds([key, ...records]);
      const page = { after: 0n, limit: stored.length };
      const acknowledged: Pet[] = [];
      const calls = {
        'pets.list': async () => expect(await pets.list(page)).toEqual(stored),
        'pets.list by status': async () => expect(await pets.list({ ...page, status: 'sold' })).toEqual(stored),
        'keys.list': async () => expect(await keys.list({ after: '', limit: known.length })).toEqual(known),
        ...Object.fromEntries([
          ...stored.flatMap((pet, index) => [
            [`pets.find(${pet.id}n)`, async () => expect(await pets.find(pet.id)).toEqual(pet)],
            [`pets.add ${index}`, async () => acknowledged.push(await added(pets, sold))],
            [
              `pets.add under the key k${index}`,
              async () => acknowledged.push(await added(pets, sold, idempotencyOf(sold, `k${index}`))),
            ],
          ]),
          ...records.flatMap((record) => [
            [`keys.add ${record.id}`, () => keys.add(record)],
            [`keys.find ${record.id}`, async () => expect(await keys.find(record.digest)).toEqual(record)],
            [`keys.revoke ${record.id}`, async () => expect(await keys.revoke(record.id, 5)).toEqual(record)],
            [`keys.recordUse ${record.id}`, () => keys.recordUse(record.id, 7)],
          ]),
        ]),
      };
      const ready = () => failureOf(() => storage.ready());
      await begin();
      let isTrue = false;
      // In one round the rest may take over what the part has done.
      for (let round = 0; round < 3 && !isTrue; round += 1) {
        const before = await ready();
        const ends = await failuresOf(calls);
        const after = await ready();
        for (const [name, failure] of ends) if (failure !== null) expectUnavailable(name, failure, storage);
        for (const failure of [before, after]) if (failure !== null) expectUnavailable('ready', failure, storage);
        isTrue = before !== null || after !== null || ends.every(([, failure]) => failure === null);
      }
      expect(isTrue, '`ready` fails if another call is unavailable').toBe(true);
      await end();
      await recovered(storage);
      for (const [name, failure] of await failuresOf(calls)) expect(failure, name).toBeNull();
      expect(await everyPet(storage)).toEqual(expect.arrayContaining([...stored, ...acknowledged]));
      expect(await everyKey(keys)).toEqual(known);
    }));
}
