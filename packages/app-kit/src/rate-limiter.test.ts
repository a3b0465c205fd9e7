import { DomainError } from '@animal-store/domain';
import type { Quota } from '@animal-store/domain/ports';
import type { Awaitable } from '@animal-store/domain/transport';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from './rate-limiter.ts';

describe('a count that the storage shares', () => {
  const SHARED: Quota = { allowed: true, remaining: 9, resetsIn: 1_000 };

  /** Counts of the storage with these ends. Counts of the process alone have 1 left for a new holder. */
  function fallback(...ends: (() => Awaitable<Quota>)[]) {
    const time = { now: 0 };
    const failures: unknown[] = [];
    const limiter = createRateLimiter(
      { limit: 2, window: 60_000 },
      { createRateLimiter: () => ({ take: () => (ends.shift() as () => Awaitable<Quota>)() }) },
      (error) => failures.push(error),
      () => time.now,
    );
    return { time, failures, remaining: async (holder = 'the zoo') => (await limiter.take(holder)).remaining };
  }
  const UNAVAILABLE = new DomainError('storage_unavailable', 'unavailable');
  const failsToCount = () => Promise.reject(UNAVAILABLE);

  test('is replaced by a count of the process for 5 seconds after a failure', async () => {
    const { time, failures, remaining } = fallback(failsToCount, failsToCount, () => SHARED);
    expect(await remaining()).toBe(1);
    time.now = 4_999;
    expect(await remaining()).toBe(0);
    time.now = 5_000;
    expect(await remaining('another zoo')).toBe(1);
    time.now = 10_000;
    expect(await remaining()).toBe(9);
    expect(failures).toEqual([UNAVAILABLE, UNAVAILABLE]);
  });

  test('is of the process alone if the storage shares none', async () => {
    const limiter = createRateLimiter({ limit: 2, window: 60_000 }, {}, () => expect.unreachable());
    expect(await limiter.take('the zoo')).toEqual({
      ...{ allowed: true, remaining: 1, resetsIn: expect.closeTo(60_000) },
    });
  });

  test('is replaced after an unexpected error, too, and reports it', async () => {
    const defect = new TypeError('a defect');
    const { failures, remaining } = fallback(() => Promise.reject(defect));
    expect(await remaining()).toBe(1);
    expect(failures).toEqual([defect]);
  });

  test('reports one of many failures at once', async () => {
    const { failures, remaining } = fallback(...Array(100).fill(failsToCount));
    await Promise.all(Array.from({ length: 100 }, () => remaining()));
    expect(failures).toEqual([UNAVAILABLE]);
  });

  test('is replaced if it is slow', async () => {
    const { failures, remaining } = fallback(() => new Promise<never>(() => {}));
    const started = performance.now();
    expect(await remaining()).toBe(1);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(failures).toEqual([new DomainError('storage_unavailable', 'the shared count took too long')]);
  });
});
