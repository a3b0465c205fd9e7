import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('createPace', () => {
  test('halves the limit once for all errors of an overload, down to a minimum', () => {
    const pace = createPace();
    const limits: number[] = [];
    for (let second = 0; second < 8; second += 1) {
      for (let error = 0; error < 100; error += 1) pace.onOverload();
      limits.push(pace.limit());
      vi.advanceTimersByTime(1_000);
    }
    expect(limits).toEqual([2_000, 1_000, 500, 250, 125, 62.5, 50, 50]);
  });

  test('raises the limit with each success, up to where it began', () => {
    const pace = createPace();
    const start = pace.limit();
    pace.onOverload();
    for (let success = 0; success < 10_000; success += 1) pace.onDone();
    expect(pace.limit()).toBeCloseTo(start * 0.75);
    for (let success = 0; success < 20_000; success += 1) pace.onDone();
    expect(pace.limit()).toBe(start);
  });
});
