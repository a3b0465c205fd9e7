import { describe, expect, test } from 'vitest';
import { quotaAfter } from './rate-limiter.ts';

describe('quotaAfter', () => {
  test.each([
    [1, true, 2],
    [2, true, 1],
    [3, true, 0],
    [4, false, 0],
    [1_000, false, 0],
  ])('allows request %i of a window of three: %s, and leaves %i', (used, allowed, remaining) => {
    expect(quotaAfter(used, { limit: 3, window: 60_000 }, 500)).toEqual({ allowed, remaining, resetsIn: 500 });
  });

  test('resets in 0 milliseconds if the window has just ended', () => {
    expect(quotaAfter(1, { limit: 1, window: 60_000 }, -5).resetsIn).toBe(0);
    expect(quotaAfter(1, { limit: 1, window: 60_000 }, 61_000).resetsIn).toBe(60_000);
  });
});
