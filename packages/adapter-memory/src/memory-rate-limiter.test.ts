import { rateLimiterContract } from '@animal-store/adapter-contract';
import { expect, test } from 'vitest';
import { createMemoryRateLimiter } from './memory-rate-limiter.ts';

rateLimiterContract('memory', (policy) => createMemoryRateLimiter(policy, () => performance.now()));

test('a window lasts from its first request, to the millisecond', async () => {
  const time = { now: 1_000 };
  const limiter = createMemoryRateLimiter({ limit: 1, window: 100 }, () => time.now);
  expect(limiter.take('the zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
  time.now = 1_099;
  expect(limiter.take('the zoo')).toEqual({ allowed: false, remaining: 0, resetsIn: 1 });
  expect(limiter.take('another zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
  time.now = 1_100;
  expect(limiter.take('the zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
  // That sweep did not take the window of those who are still in theirs.
  expect(limiter.take('another zoo')).toEqual({ allowed: false, remaining: 0, resetsIn: 99 });
  time.now = 1_199;
  expect(limiter.take('another zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
});
