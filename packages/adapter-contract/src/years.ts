// Years: what expires by itself does not.

import { expect, onTestFinished, vi } from 'vitest';
import {
  added,
  apiKey,
  everyKey,
  everyPage,
  expectSame,
  FULL_PET,
  FULL_SELECTION,
  idempotencyOf,
  inOrderOfIds,
} from './samples.ts';
import { portsAt, type StorageUnderTest, testOf } from './storage-under-test.ts';

export function yearsContract<Place>(adapter: StorageUnderTest<Place>): void {
  testOf(adapter)(
    'keeps pets, idempotency keys and API keys for years, and assigns higher ids when opened again',
    async ({ place, storage, pets: earlier, keys: earlierKeys }) => {
      const idempotency = idempotencyOf(FULL_PET, 'k1');
      const [full, last] = [await added(earlier, FULL_PET, idempotency), await added(earlier)];
      // A creation that was too slow may be among them, too.
      const stored = await everyPage(earlier);
      expect(stored).toEqual(expect.arrayContaining([full, last]));
      const [used, revoked] = [apiKey({ lastUsedAt: 5 }), apiKey({ revokedAt: 10 })];
      const records = [used, revoked, apiKey({ expiresAt: 3 })];
      for (const record of records) await earlierKeys.add({ ...record, lastUsedAt: null, revokedAt: null });
      await earlierKeys.recordUse(used.id, 5);
      await earlierKeys.revoke(revoked.id, 10);
      await storage.close();

      // Ten years.
      await adapter.operator?.expire?.(place);
      onTestFinished(() => void vi.useRealTimers());
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 365 * 24 * 3_600_000 });
      const { pets, keys } = await portsAt(adapter, place);
      expectSame(await pets.add(FULL_PET, idempotency), { pet: full, created: false });
      expectSame(await everyPage(pets), stored);
      expectSame(await everyPage(pets, FULL_SELECTION), [full]);
      for (const pet of [full, last]) expectSame(await pets.find(pet.id), pet);
      expect((await added(pets)).id).toBeGreaterThan(last.id);
      expectSame(await everyKey(keys), inOrderOfIds(records));
      for (const record of records) expectSame(await keys.find(record.digest), record);
    },
  );
}
