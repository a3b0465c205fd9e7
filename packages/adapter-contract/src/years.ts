// Years: what expires by itself does not.

import { expect, onTestFinished, vi } from 'vitest';
import {
  added,
  apiKey,
  everyKey,
  everyPage,
  FULL_PET,
  FULL_SELECTIONS,
  idempotencyOf,
  inOrderOfKeyIds,
  rex,
} from './samples.ts';
import { opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

const TEN_YEARS = 10 * 365 * 24 * 3_600_000;

export function yearsContract<Place>(adapter: StorageUnderTest<Place>): void {
  testOf(adapter)(
    'keeps pets, idempotency keys and API keys for years, and assigns higher ids when opened again',
    async ({ place, storage }) => {
      const idempotency = idempotencyOf(FULL_PET, 'k1');
      const first = await added(storage.pets, FULL_PET, idempotency);
      const created = [first, await added(storage.pets, rex({ status: 'available' })), await added(storage.pets)];
      const [used, revoked] = [apiKey({ createdAt: 1 }), apiKey({ createdAt: 2, expiresAt: 3 })];
      for (const record of [used, revoked]) await storage.keys.add(record);
      await storage.keys.recordUse(used.id, 5);
      await storage.keys.revoke(revoked.id, 10);
      await storage.close();

      await adapter.operator?.expire?.(place);
      onTestFinished(() => void vi.useRealTimers());
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + TEN_YEARS });
      const { pets, keys } = await opened(adapter, place);
      expect(await pets.add(FULL_PET, idempotency)).toStrictEqual({ pet: first, created: false });
      const max = rex({ name: 'Max' });
      expect(await pets.add(max, idempotencyOf(max, 'k1'))).toBeNull();
      expect(await everyPage(pets)).toStrictEqual(created);
      for (const filters of FULL_SELECTIONS) expect(await everyPage(pets, filters)).toStrictEqual([first]);
      for (const pet of created) expect(await pets.find(pet.id)).toStrictEqual(pet);
      expect((await added(pets)).id).toBeGreaterThan(created[2]?.id as bigint);
      const records = [
        { ...used, lastUsedAt: 5 },
        { ...revoked, revokedAt: 10 },
      ];
      expect(await everyKey(keys)).toStrictEqual(inOrderOfKeyIds(records));
      for (const record of records) expect(await keys.find(record.digest)).toStrictEqual(record);
    },
  );
}
