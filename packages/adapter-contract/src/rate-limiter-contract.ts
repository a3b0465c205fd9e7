import { setTimeout as sleep } from 'node:timers/promises';
import type { Awaitable, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';

/**
 * Declares every test that a rate limiter must pass.
 *
 * @param name The limiter's name, for the report.
 * @param open Opens a limiter that has counted nothing yet. Called in each test; close what it opens in `onTestFinished`.
 */
export function rateLimiterContract(name: string, open: (policy: RatePolicy) => Awaitable<RateLimiter>): void {
  const LONG = 60_000;

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
        'the zoo',
        'another zoo',
        'The zoo',
        ' the zoo',
        'the zoo ',
        '',
        '$where',
        '__proto__',
        'a.b',
        'é',
        'e\u0301',
        'a\u0000',
        'z'.repeat(100),
      ];
      for (const name of names) expect((await limiter.take(name)).allowed, name).toBe(true);
      for (const name of names) expect((await limiter.take(name)).allowed, name).toBe(false);
    });

    test('restores the quota when the window ends as announced, however many requests came in it', async () => {
      const limiter = await open({ limit: 2, window: 1_000 });
      for (let count = 0; count < 2; count += 1) await limiter.take('the zoo');
      const rejected = await limiter.take('the zoo');
      expect(rejected.allowed).toBe(false);
      await sleep(rejected.resetsIn + 50);
      expect(await limiter.take('the zoo')).toMatchObject({ allowed: true, remaining: 1 });
    });

    test('counts each of a hundred requests at once, and gives each its own remaining number', async () => {
      const limiter = await open({ limit: 40, window: LONG });
      const quotas = await Promise.all(Array.from({ length: 100 }, () => limiter.take('the zoo')));
      const allowed = quotas.filter((quota) => quota.allowed).map(({ remaining }) => remaining);
      expect(allowed.sort((one, other) => other - one)).toEqual(Array.from({ length: 40 }, (_, index) => 39 - index));
      const rejected = quotas.filter((quota) => !quota.allowed);
      expect(new Set(rejected.map(({ remaining }) => remaining))).toEqual(new Set([0]));
      for (const { resetsIn } of rejected) expect(resetsIn).toBeGreaterThan(0);
      expect(await limiter.take('the zoo')).toMatchObject({ allowed: false, remaining: 0 });
    });

    test('counts many holders at once, each for itself', async () => {
      const limiter = await open({ limit: 3, window: LONG });
      const holders = Array.from({ length: 60 }, (_, index) => `zoo ${index % 12}`);
      const quotas = await Promise.all(holders.map((holder) => limiter.take(holder)));
      const allowed = holders.filter((_, index) => quotas[index]?.allowed);
      expect(allowed.sort()).toEqual(holders.slice(0, 36).sort());
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
