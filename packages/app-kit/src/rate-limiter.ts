import { withTimeout } from '@animal-store/async';
import { DomainError, type MonotonicClock } from '@animal-store/domain';
import type { PetStorage, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { createProcessRateLimiter } from './process-rate-limiter.ts';

/**
 * Creates a limiter that counts for all processes if the storage can. Otherwise, and while that fails, this process counts alone.
 *
 * @param onFailure Called with the reason each time this process begins to count alone.
 */
export function createRateLimiter(
  policy: RatePolicy,
  storage: Pick<PetStorage, 'createRateLimiter'>,
  onFailure: (error: unknown) => void,
): RateLimiter {
  const monotonic = () => performance.now();
  const own = createProcessRateLimiter(policy, monotonic);
  const shared = storage.createRateLimiter?.(policy);
  return shared === undefined ? own : withFallback(shared, own, monotonic, onFailure);
}

/** How long the shared count may take, in milliseconds. */
const SHARED_TIMEOUT = 500;

const LATE = new DomainError('storage_unavailable', 'the shared count took too long');

/** How long the own count is used after a failure, in milliseconds. */
const FALLBACK_DURATION = 5_000;

/**
 * Counts with `shared`, and with `own` while `shared` fails or is slow: a limit must neither stop the service nor delay it.
 *
 * @param onFailure Called with the reason each time it changes to `own`.
 */
export function withFallback(
  shared: RateLimiter,
  own: RateLimiter,
  clock: MonotonicClock,
  onFailure: (error: unknown) => void,
): RateLimiter {
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
