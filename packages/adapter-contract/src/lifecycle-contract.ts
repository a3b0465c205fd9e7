import { describe, expect, test } from 'vitest';
import { everyCall, expectUnavailable, failureOf } from './every-call.ts';
import { added, everyPage } from './samples.ts';
import { emptyStorage, opened, type StorageUnderTest } from './storage-under-test.ts';

/** Opening, readiness and closing. */
export function lifecycleContract<Place>(adapter: StorageUnderTest<Place>): void {
  describe('a storage', () => {
    test('is ready once it is opened', async () => {
      const storage = await emptyStorage(adapter);
      expect(await storage.ready()).toBeUndefined();
    });

    test('has a location of one line', async () => {
      const { location } = await emptyStorage(adapter);
      expect(location).toMatch(/^\S.*$/);
    });

    test('can be closed twice, also at once', async () => {
      const storage = await adapter.open(await adapter.freshPlace());
      await storage.ready();
      await Promise.all([storage.close(), storage.close()]);
      await storage.close();
    });

    test('can be closed before it was used', async () => {
      const storage = await adapter.open(await adapter.freshPlace());
      await storage.close();
    });

    test('rejects every call as unavailable once it is closed', async () => {
      const storage = await emptyStorage(adapter);
      await added(storage.pets);
      await storage.close();
      for (const [name, call] of Object.entries(everyCall(storage))) {
        const failure = await failureOf(call);
        expect(failure, name).not.toBeNull();
        expectUnavailable(failure, storage);
      }
    });

    test('is closed at the end of its scope', async () => {
      const place = await adapter.freshPlace();
      const storage = await adapter.open(place);
      await added(storage.pets);
      await storage[Symbol.asyncDispose]();
      expectUnavailable(await failureOf(() => storage.pets.find(1n)), storage);
      expect(await everyPage((await opened(adapter, place)).pets)).toHaveLength(1);
    });

    test('ends calls in flight when it is closed, and stores what it acknowledges', async () => {
      const place = await adapter.freshPlace();
      const storage = await opened(adapter, place);
      await storage.ready();
      const acknowledged: bigint[] = [];
      const calls = Array.from({ length: 50 }, () =>
        failureOf(async () => {
          const pet = await added(storage.pets);
          acknowledged.push(pet?.id as bigint);
        }),
      );
      await storage.close();
      for (const failure of await Promise.all(calls)) if (failure !== null) expectUnavailable(failure, storage);
      const { pets } = await opened(adapter, place);
      for (const id of acknowledged) expect(await pets.find(id)).toMatchObject({ id });
    });
  });
}
