import type { Pet } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CALL_LIMIT, everyCall, expectUnavailable, failureOf } from './every-call.ts';
import { added, apiKey, everyPage, idempotencyOf, rex } from './samples.ts';
import { type Interruptible, opened, type StorageUnderTest } from './storage-under-test.ts';

/** How long a storage may need to work again, in milliseconds. */
const RECOVERY_LIMIT = 15_000;

const TIMEOUT = 4 * CALL_LIMIT + 2 * RECOVERY_LIMIT;

/** What a storage does while it is unavailable, and afterwards. */
export function outageContract<Place>(adapter: StorageUnderTest<Place> & Interruptible<Place>): void {
  /** A storage that was used before it was interrupted; it is restored when the test ends. */
  async function interrupted() {
    const place = await adapter.freshPlace();
    const storage = await opened(adapter, place);
    const pet = await added(storage.pets);
    const key = apiKey();
    await storage.keys.add(key);
    let isInterrupted = true;
    await adapter.interrupt(place);
    const restore = async () => {
      if (!isInterrupted) return;
      isInterrupted = false;
      await adapter.restore(place);
    };
    onTestFinished(restore);
    return { place, storage, pet, key, restore };
  }

  /** Waits until the storage works again. */
  async function recovered(storage: PetStorage): Promise<void> {
    const works = async () => (await failureOf(() => storage.ready())) === null;
    await vi.waitUntil(works, { timeout: RECOVERY_LIMIT, interval: 100 });
  }

  describe('an interrupted storage', () => {
    test('ends every call within 5 seconds, as unavailable if it fails', { timeout: TIMEOUT }, async () => {
      const { storage } = await interrupted();
      // Several times each: calls may wait for each other.
      const calls = Array.from({ length: 10 }, () => Object.entries(everyCall(storage))).flat();
      const begin = performance.now();
      const failures = await Promise.all(
        calls.map(async ([name, call]) => {
          const failure = await failureOf(call);
          expect(performance.now() - begin, name).toBeLessThan(CALL_LIMIT);
          return [name, failure] as const;
        }),
      );
      for (const [name, failure] of failures) {
        // Reads may still succeed.
        if (['add', 'add with an idempotency key', 'keys.add', 'ready'].includes(name)) {
          expect(failure, name).not.toBeNull();
        }
        if (failure !== null) expectUnavailable(failure, storage);
      }
    });

    test('never says that a pet or a key does not exist', { timeout: TIMEOUT }, async () => {
      const { storage, pet, key } = await interrupted();
      const read = async <T>(call: () => T, value: unknown) => {
        let result: unknown;
        const failure = await failureOf(async () => {
          result = await call();
        });
        if (failure === null) expect(result).toEqual(value);
      };
      await Promise.all([
        read(() => storage.pets.find(pet.id), pet),
        read(() => storage.pets.list({ after: 0n, limit: 20 }), [pet]),
        read(() => storage.keys.find(key.digest), key),
        read(() => storage.keys.list(), [key]),
      ]);
    });

    test('works again when it is restored, with all that it acknowledged', { timeout: TIMEOUT }, async () => {
      const { place, storage, pet, restore } = await interrupted();
      const create = idempotencyOf(rex(), { holder: 'the zoo', key: 'k1' });
      const call = () => added(storage.pets, rex(), create);
      const [failure] = await Promise.all([failureOf(call), failureOf(() => storage.ready())]);
      expectUnavailable(failure, storage);
      await restore();
      await recovered(storage);
      // The lost call may have been executed or not.
      const repeated = (await call()) as Pet;
      expect(await call()).toStrictEqual(repeated);
      const last = await added(storage.pets);
      expect(last.id).toBeGreaterThan(repeated.id);
      const { pets } = await opened(adapter, place);
      expect(await everyPage(pets)).toStrictEqual([pet, repeated, last]);
    });

    test('can be opened while it is interrupted, and works when it is restored', { timeout: TIMEOUT }, async () => {
      const { place, pet, restore } = await interrupted();
      const storage = await opened(adapter, place);
      expectUnavailable(await failureOf(() => storage.ready()), storage);
      await restore();
      await recovered(storage);
      expect(await everyPage(storage.pets)).toStrictEqual([pet]);
      expect((await added(storage.pets)).id).toBeGreaterThan(pet.id);
    });

    test('closes within 5 seconds', { timeout: TIMEOUT }, async () => {
      const { storage } = await interrupted();
      const calls = Object.values(everyCall(storage)).map(failureOf);
      const begin = performance.now();
      await storage.close();
      expect(performance.now() - begin).toBeLessThan(CALL_LIMIT);
      await Promise.all(calls);
    });
  });
}
