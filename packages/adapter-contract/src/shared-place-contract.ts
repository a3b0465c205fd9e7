import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Storage } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { atOnce, patiently, recovered } from './calls.ts';
import { added, apiKey } from './samples.ts';
import { opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

/** Two storages that are open at one place. */
export function sharedPlaceContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter).extend<{ both: [Storage, Storage] }>({
    /** Opened and used for the first time at once. */
    async both({ place }, use) {
      const both = await Promise.all([opened(adapter, place), opened(adapter, place)]);
      await Promise.all(both.map((storage) => storage.ready()));
      await use(both);
    },
  });

  test('show an API key that the other has added or revoked at once, beside creations', async ({ both }) => {
    const [one, other] = both;
    let isOver = false;
    const createMany = async (index: number) => {
      for (; !isOver; await nextTurn()) await patiently(() => added((both[index % 2] as Storage).pets));
    };
    // A replica lags if it has much to do.
    const creations = atOnce(30, createMany);
    try {
      for (let round = 0; round < 30; round += 1) {
        const record = apiKey();
        const find = () => patiently(() => other.keys.find(record.digest));
        expect(await find()).toBeNull();
        await patiently(() => one.keys.add(record));
        expect(await find()).toStrictEqual(record);
        await patiently(() => one.keys.revoke(record.id, 5));
        expect(await find()).toStrictEqual({ ...record, revokedAt: 5 });
      }
    } finally {
      isOver = true;
      await creations;
    }
  });

  test('keep a revocation by one of eight that all record uses, and the last use', async ({ place, both }) => {
    const others = await atOnce(6, () => opened(adapter, place));
    await Promise.all(others.map((storage) => recovered(storage)));
    for (let round = 0; round < 10; round += 1) {
      const record = apiKey();
      await both[0].keys.add(record);
      const uses = [...both, ...others].map(async ({ keys }, index) => {
        for (let at = 1; at <= 10; at += 1) await patiently(() => keys.recordUse(record.id, 100 * index + at));
      });
      const revoked = await patiently(() => both[1].keys.revoke(record.id, 5));
      await Promise.all(uses);
      const found = await both[0].keys.find(record.digest);
      expect(found).toMatchObject({ ...record, revokedAt: 5, lastUsedAt: expect.any(Number) });
      expect((found?.lastUsedAt ?? 0) % 100, 'the last of ten uses, by one of eight').toBe(10);
      expect(revoked).toMatchObject({ ...record, revokedAt: 5, lastUsedAt: revoked?.lastUsedAt });
    }
  });
}
