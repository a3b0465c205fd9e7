import { withTimeout } from '@animal-store/async';
import { DomainError, type MonotonicClock } from '@animal-store/domain';
import type { PetStorage, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { createProcessRateLimiter } from './process-rate-limiter.ts';

/** How long the shared count may take, in milliseconds. */
const SHARED_TIMEOUT = 500;

const LATE = new DomainError('storage_unavailable', 'the shared count took too long');

/** How long the own count is used after a failure, in milliseconds. */
const FALLBACK_DURATION = 5_000;

/**
 * Creates a limiter that counts for all processes if the storage can. Otherwise this process counts alone, and while the
 * shared count fails or is slow: a limit must neither stop the service nor delay it.
 *
 * @param onFailure Called with the reason each time this process begins to count alone.
 */
export function createRateLimiter(
  policy: RatePolicy,
  storage: Pick<PetStorage, 'createRateLimiter'>,
  onFailure: (error: unknown) => void,
  clock: MonotonicClock = () => performance.now(),
): RateLimiter {
  const own = createProcessRateLimiter(policy, clock);
  const shared = storage.createRateLimiter?.(policy);
  if (shared === undefined) return own;
  let fallbackUntil = Number.NEGATIVE_INFINITY;
  return {
    async take(holder) {
      if (clock() < fallbackUntil) return own.take(holder);
      try {
        return await withTimeout(shared.take(holder), SHARED_TIMEOUT, LATE);
      } catch (error) {
        if (clock() >= fallbackUntil) {
          fallbackUntil = clock() + FALLBACK_DURATION;
          onFailure(error);
        }
        return own.take(holder);
      }
    },
  };
}
