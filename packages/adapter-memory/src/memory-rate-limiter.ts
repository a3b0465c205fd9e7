import { type MonotonicClock, quotaAfter, type RateLimiter, type RatePolicy } from '@animal-store/domain';

interface Window {
  used: number;
  readonly endsAt: number;
}

/**
 * Counts in this process only. Holders whose window has ended are forgotten with the windows of the others, so that no
 * more than those of one window are kept.
 *
 * @param clock Milliseconds, of which only differences matter: best one that nobody puts back.
 */
export function createMemoryRateLimiter(policy: RatePolicy, clock: MonotonicClock): RateLimiter {
  const windows = new Map<string, Window>();
  let sweepAt = clock() + policy.window;

  return {
    take(holder) {
      const now = clock();
      if (now >= sweepAt) {
        for (const [name, { endsAt }] of windows) if (now >= endsAt) windows.delete(name);
        sweepAt = now + policy.window;
      }
      let window = windows.get(holder);
      if (window === undefined || now >= window.endsAt) {
        window = { used: 0, endsAt: now + policy.window };
        windows.set(holder, window);
      }
      window.used += 1;
      return quotaAfter(window.used, policy, window.endsAt - now);
    },
  };
}
