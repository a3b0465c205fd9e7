import { setTimeout as sleep } from 'node:timers/promises';
import type { Awaitable, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';

/**
 * Declares every test that a counter of requests must pass.
 *
 * @param adapter The adapter's name, for the report.
 * @param open Opens a limiter that has counted nothing yet. Called in each test; what it opens ends with the test.
 */
export function rateLimiterContract(adapter: string, open: (policy: RatePolicy) => Awaitable<RateLimiter>): void {
  const LONG = 60_000;

  describe(`${adapter} keeps the contract of a rate limiter`, () => {
    test('a share is used up request by request, and then refused', async () => {
      const limiter = await open({ limit: 3, window: LONG });
      const shares = [];
      for (let count = 0; count < 5; count += 1) shares.push(await limiter.take('the zoo'));
      expect(shares.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
      expect(shares.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
      for (const { resetsIn } of shares) {
        expect(resetsIn).toBeGreaterThan(0);
        expect(resetsIn).toBeLessThanOrEqual(LONG);
      }
    });

    test('a holder has a share of its own, whatever its name', async () => {
      const limiter = await open({ limit: 1, window: LONG });
      const names = ['the zoo', 'another zoo', 'The zoo', '', '$where', '__proto__', 'a.b'];
      for (const name of names) expect((await limiter.take(name)).allowed, name).toBe(true);
      for (const name of names) expect((await limiter.take(name)).allowed, name).toBe(false);
    });

    test('a window ends as it was announced, and the share is whole again', async () => {
      const limiter = await open({ limit: 2, window: 1_000 });
      for (let count = 0; count < 2; count += 1) await limiter.take('the zoo');
      const refused = await limiter.take('the zoo');
      expect(refused.allowed).toBe(false);
      await sleep(refused.resetsIn + 50);
      expect(await limiter.take('the zoo')).toMatchObject({ allowed: true, remaining: 1 });
    });

    test('a hundred at once are counted as a hundred', async () => {
      const limiter = await open({ limit: 40, window: LONG });
      const shares = await Promise.all(Array.from({ length: 100 }, () => limiter.take('the zoo')));
      expect(shares.filter(({ allowed }) => allowed)).toHaveLength(40);
      expect(Math.min(...shares.map(({ remaining }) => remaining))).toBe(0);
    });
  });
}
