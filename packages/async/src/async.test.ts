import { describe, expect, test, vi } from 'vitest';
import { createThrottle, once, singleFlight, withTimeout } from './index.ts';

describe('once', () => {
  test('runs the work for the first call, and again only if it failed', async () => {
    const work = vi.fn().mockRejectedValueOnce(new Error('a failure')).mockResolvedValue('a result');
    const run = once(work);
    await expect(run()).rejects.toThrow('a failure');
    expect(await Promise.all([run(), run()])).toEqual(['a result', 'a result']);
    expect(work).toHaveBeenCalledTimes(2);
  });
});

describe('singleFlight', () => {
  test('shares the work in flight, and runs it again after that', async () => {
    const flights: ((result: number) => void)[] = [];
    const run = singleFlight(() => new Promise<number>((resolve) => flights.push(resolve)));
    const together = [run(), run()];
    flights[0]?.(1);
    expect(await Promise.all(together)).toEqual([1, 1]);
    const next = run();
    flights[1]?.(2);
    expect(await next).toBe(2);
  });

  test('returns a result that is no promise at once', () => {
    expect(singleFlight(() => 1)()).toBe(1);
  });
});

test('createThrottle reports the first event, and then once a minute how many there were', () => {
  const clock = vi.spyOn(performance, 'now');
  const count = createThrottle();
  const counts = [1_000, 2_000, 60_999, 61_000, 61_001].map((now) => {
    clock.mockReturnValue(now);
    return count();
  });
  clock.mockRestore();
  expect(counts).toEqual([1, 0, 0, 3, 0]);
});

describe('withTimeout', () => {
  const LATE = new Error('late');

  test.each([
    ['a value', 1],
    ['a promise', Promise.resolve(1)],
  ])('returns the result of %s in time, and leaves no timer that keeps the process alive', async (_, work) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await withTimeout(work, 60_000, LATE)).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    const timers = vi.getTimerCount();
    vi.useRealTimers();
    expect(timers).toBe(0);
  });

  test('rejects work that fails with its error, and work that takes too long with the given one', async () => {
    await expect(withTimeout(Promise.reject(new Error('a failure')), 60_000, LATE)).rejects.toThrow('a failure');
    await expect(withTimeout(new Promise(() => {}), 1, LATE)).rejects.toBe(LATE);
  });
});
