import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createProcessRateLimiter } from './process-rate-limiter.ts';

describe('createProcessRateLimiter', () => {
  test('counts a window from its first request, to the millisecond', async () => {
    const time = { now: 1_000 };
    const limiter = createProcessRateLimiter({ limit: 1, window: 100 }, () => time.now);
    expect(limiter.take('the zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
    time.now = 1_099;
    expect(limiter.take('the zoo')).toEqual({ allowed: false, remaining: 0, resetsIn: 1 });
    expect(limiter.take('another zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
    time.now = 1_100;
    expect(limiter.take('the zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
    // The sweep at this time keeps windows that have not ended.
    expect(limiter.take('another zoo')).toEqual({ allowed: false, remaining: 0, resetsIn: 99 });
    time.now = 1_199;
    expect(limiter.take('another zoo')).toEqual({ allowed: true, remaining: 0, resetsIn: 100 });
  });

  test('ends a window at most its length later, whatever fraction of a millisecond it begins at', () => {
    const limiter = createProcessRateLimiter({ limit: 1, window: 60_000 }, () => 33_000.1);
    expect(limiter.take('the zoo')).toMatchObject({ resetsIn: 60_000 });
  });

  test('removes holders whose window has ended', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const time = { now: 0 };
    const limiter = createProcessRateLimiter({ limit: 1, window: 100 }, () => time.now);
    const bytesAfter = (windows: number) => {
      for (let count = 0; count < windows; count += 1) {
        for (let holder = 0; holder < 1_000; holder += 1) limiter.take(`${time.now} ${holder} ${'x'.repeat(100)}`);
        time.now += 100;
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = bytesAfter(10);
    // A hundred thousand names alone would be more than 10 MB.
    expect(bytesAfter(100) - before).toBeLessThan(2_000_000);
  });
});
