import type { MonotonicClock } from '@animal-store/domain';
import { quotaAfter, type RateLimiter, type RatePolicy } from '@animal-store/domain/ports';

interface Window {
  used: number;
  readonly endsAt: number;
}

/** Counts in this process only. A holder whose window has ended is removed soon after. */
export function createProcessRateLimiter(policy: RatePolicy, clock: MonotonicClock): RateLimiter {
  const windows = new Map<string, Window>();
  let sweepAt = Number.NEGATIVE_INFINITY;

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
