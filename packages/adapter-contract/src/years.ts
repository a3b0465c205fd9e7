// Years: what expires by itself does not.

import { expect, onTestFinished, vi } from 'vitest';
import {
  added,
  apiKey,
  everyKey,
  everyPage,
  expectSame,
  FULL_PET,
  FULL_SELECTIONS,
  idempotencyOf,
  inOrderOfKeyIds,
  rex,
} from './samples.ts';
import { portsAt, type StorageUnderTest, testOf } from './storage-under-test.ts';

const TEN_YEARS = 10 * 365 * 24 * 3_600_000;

export function yearsContract<Place>(adapter: StorageUnderTest<Place>): void {
  testOf(adapter)(
    'keeps pets, idempotency keys and API keys for years, and assigns higher ids when opened again',
    async ({ place, storage, pets: earlier, keys: earlierKeys }) => {
      const idempotency = idempotencyOf(FULL_PET, 'k1');
      const first = await added(earlier, FULL_PET, idempotency);
      const created = [first, await added(earlier, rex({ status: 'available' })), await added(earlier)];
      const [used, revoked] = [apiKey({ createdAt: 1 }), apiKey({ createdAt: 2, expiresAt: 3 })];
      for (const record of [used, revoked]) await earlierKeys.add(record);
      await earlierKeys.recordUse(used.id, 5);
      await earlierKeys.revoke(revoked.id, 10);
      await storage.close();

      await adapter.operator?.expire?.(place);
      onTestFinished(() => void vi.useRealTimers());
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + TEN_YEARS });
      const { pets, keys } = await portsAt(adapter, place);
      expectSame(await pets.add(FULL_PET, idempotency), { pet: first, created: false });
      const max = rex({ name: 'Max' });
      expect(await pets.add(max, idempotencyOf(max, 'k1'))).toBeNull();
      expectSame(await everyPage(pets), created);
      for (const filters of FULL_SELECTIONS) expectSame(await everyPage(pets, filters), [first]);
      for (const pet of created) expectSame(await pets.find(pet.id), pet);
      expect((await added(pets)).id).toBeGreaterThan(created[2]?.id as bigint);
      const records = [
        { ...used, lastUsedAt: 5 },
        { ...revoked, revokedAt: 10 },
      ];
      expectSame(await everyKey(keys), inOrderOfKeyIds(records));
      for (const record of records) expectSame(await keys.find(record.digest), record);
    },
  );
}
