import { setTimeout as sleep } from 'node:timers/promises';
import type { Awaitable, PetStorage, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { expectNoSecret, expectUnavailable, failureOf } from './calls.ts';
import { beginOutage, inEach, recovered } from './outage-contract.ts';
import { emptyStorage, opened, type StorageUnderTest } from './storage-under-test.ts';

const LONG = 60_000;

/**
 * Declares every test that a rate limiter of one process must pass.
 *
 * @param name The limiter's name, for the report.
 * @param open Opens a limiter that has counted nothing yet. Called in each test; close what it opens in `onTestFinished`.
 */
export function rateLimiterContract(name: string, open: (policy: RatePolicy) => Awaitable<RateLimiter>): void {
  describe(`${name} fulfils the contract of a rate limiter:`, () => {
    test('allows as many requests as the limit, and rejects the next', async () => {
      const limiter = await open({ limit: 3, window: LONG });
      const quotas = [];
      for (let count = 0; count < 5; count += 1) quotas.push(await limiter.take('the zoo'));
      expect(quotas.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
      expect(quotas.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
      for (const { resetsIn } of quotas) {
        expect(resetsIn).toBeGreaterThan(0);
        expect(resetsIn).toBeLessThanOrEqual(LONG);
      }
    });

    test('gives each holder a quota of its own, whatever its name', async () => {
      const limiter = await open({ limit: 1, window: LONG });
      const names = [
        ...['the zoo', 'another zoo', 'The zoo', ' the zoo', 'the zoo ', '', '$where', '__proto__', 'a.b'],
        ...['é', 'e\u0301', 'a\u0000', 'z'.repeat(100), '🐕'.repeat(100)],
      ];
      for (const name of names) expect((await limiter.take(name)).allowed, name).toBe(true);
      for (const name of names) expect((await limiter.take(name)).allowed, name).toBe(false);
    });

    test('restores the quota at the end of its window, whatever the number of requests', async () => {
      const window = 1_000;
      const limiter = await open({ limit: 2, window });
      const begin = performance.now();
      for (let count = 0; count < 2; count += 1) expect((await limiter.take('the zoo')).allowed).toBe(true);
      let quota = await limiter.take('the zoo');
      while (!quota.allowed && performance.now() - begin < 5 * window) {
        await sleep(Math.min(quota.resetsIn + 1, 100));
        quota = await limiter.take('the zoo');
      }
      // Requests that extend the window would never be allowed again. Clocks may count in whole milliseconds.
      expect(quota).toMatchObject({ allowed: true, remaining: 1 });
      expect(performance.now() - begin).toBeGreaterThan(window - 5);
    });

    test('counts many requests at once, each holder for itself, and gives each its own remaining number', async () => {
      const limiter = await open({ limit: 10, window: LONG });
      const holders = Array.from({ length: 100 }, (_, index) => `zoo ${index % 4}`);
      const quotas = await Promise.all(holders.map((holder) => limiter.take(holder)));
      for (const zoo of new Set(holders)) {
        const own = quotas.filter((_, index) => holders[index] === zoo);
        const remaining = own.filter(({ allowed }) => allowed).map((quota) => quota.remaining);
        expect(remaining.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        for (const quota of own.filter(({ allowed }) => !allowed)) {
          expect(quota.remaining).toBe(0);
          expect(quota.resetsIn).toBeGreaterThan(0);
        }
        expect(await limiter.take(zoo)).toMatchObject({ allowed: false, remaining: 0 });
      }
    });

    test('allows no more in each window if windows end during a burst', async () => {
      const limiter = await open({ limit: 1, window: 1 });
      for (let burst = 0; burst < 10; burst += 1) {
        const started = performance.now();
        const quotas = await Promise.all(Array.from({ length: 100 }, () => limiter.take(`zoo ${burst}`)));
        const windows = Math.ceil(performance.now() - started) + 1;
        expect(quotas.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(windows);
        expect(new Set(quotas.map(({ remaining }) => remaining))).toEqual(new Set([0]));
      }
    });
  });
}

/**
 * Declares every test that the rate limiters of a storage must pass: those of {@link rateLimiterContract}, and that they count
 * together, also after outages.
 *
 * @param name The adapter's name, for the report.
 */
export function sharedRateLimiterContract<Place>(
  name: string,
  adapter: StorageUnderTest<Place, PetStorage & Required<Pick<PetStorage, 'createRateLimiter'>>>,
): void {
  const policy = { limit: 3, window: LONG };

  rateLimiterContract(name, async (given) => (await emptyStorage(adapter)).createRateLimiter(given));

  describe(`${name} fulfils the contract of a shared rate limiter:`, () => {
    test('counts the requests to two storages at one place together', async () => {
      const place = await adapter.freshPlace();
      const both = await Promise.all([opened(adapter, place), opened(adapter, place)]);
      const [one, other] = both.map((storage) => storage.createRateLimiter(policy)) as [RateLimiter, RateLimiter];
      const quotas = [];
      for (const limiter of [one, other, one, other]) quotas.push(await limiter.take('the zoo'));
      expect(quotas.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
      expect(quotas.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    });

    test('counts the requests to different places separately', async () => {
      for (let count = 0; count < 2; count += 1) {
        const limiter = (await emptyStorage(adapter)).createRateLimiter(policy);
        expect(await limiter.take('the zoo')).toMatchObject({ remaining: 2 });
      }
    });

    test('is unavailable once its storage is closed', async () => {
      const storage = await emptyStorage(adapter);
      const limiter = storage.createRateLimiter(policy);
      await limiter.take('the zoo');
      await storage.close();
      expectUnavailable(await failureOf(() => limiter.take('the zoo')), storage);
    });

    const { outages } = adapter;
    if (outages === 'not tested') return;
    test('ends calls within 5 seconds in an outage, and counts again after it', () =>
      inEach(outages, async (outage) => {
        const place = await adapter.freshPlace();
        const storage = await opened(adapter, place);
        const limiter = storage.createRateLimiter(policy);
        await limiter.take('the zoo');
        const end = await beginOutage(outage, place);
        const calls = Array.from({ length: 50 }, (_, index) => failureOf(() => limiter.take(`zoo ${index % 10}`)));
        for (const failure of await Promise.all(calls)) {
          expectUnavailable(failure, storage);
          expectNoSecret(adapter.secrets, failure);
        }
        await end();
        await recovered(storage);
        expect(await limiter.take('another zoo')).toMatchObject({ allowed: true, remaining: 2 });
      }));
  });
}
