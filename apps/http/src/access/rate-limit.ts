import { DomainError, type MonotonicClock } from '@animal-store/domain';
import type { Quota, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { type Awaitable, andThen } from '@animal-store/domain/transport';
import { HttpError } from '../http/http-error.ts';
import type { Headers } from '../http/response.ts';
import { withTimeout } from '../http/timeout.ts';

/** The limit that each holder of an API key has. */
export interface RateLimit {
  readonly policy: RatePolicy;
  readonly limiter: RateLimiter;
}

/**
 * Counts a request of a holder.
 *
 * @returns The fields that tell the holder of its quota (draft-ietf-httpapi-ratelimit-headers-10), and the error to answer
 * with where the quota is used up.
 */
export function countRequest(
  { policy, limiter }: RateLimit,
  holder: string,
): Awaitable<{ headers: Headers; rejection: HttpError | null }> {
  return andThen(limiter.take(holder), (quota) => ({
    headers: rateLimitHeaders(policy, quota),
    rejection: quota.allowed ? null : tooManyRequests(policy, quota),
  }));
}

/** Whole seconds, never fewer than there are. */
const seconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);

function rateLimitHeaders({ limit, window }: RatePolicy, { remaining, resetsIn }: Quota): Headers {
  return {
    'ratelimit-policy': `"default";q=${limit};w=${seconds(window)}`,
    ratelimit: `"default";r=${remaining};t=${seconds(resetsIn)}`,
  };
}

function tooManyRequests({ limit, window }: RatePolicy, { resetsIn }: Quota): HttpError {
  const wait = Math.max(seconds(resetsIn), 1);
  return new HttpError(
    'too_many_requests',
    `this API key's holder may make ${limit} requests in ${seconds(window)} s: try again in ${wait} s`,
    { 'retry-after': String(wait) },
  );
}

/** How long the shared count may take, in milliseconds: the operation behind it has its own time. */
const PATIENCE = 500;

const LATE = new DomainError('storage_unavailable', 'the shared count took too long');

/** How long a process counts alone before it asks again, in milliseconds. */
const ALONE = 5_000;

/**
 * Counts with `shared`; alone, with `own`, while what is shared is out of reach or slow: a limit must not stop the service,
 * nor make every request wait.
 *
 * @param onFailure Told why `shared` is not asked for a while.
 */
export function withFallback(
  shared: RateLimiter,
  own: RateLimiter,
  clock: MonotonicClock,
  onFailure: (error: unknown) => void,
): RateLimiter {
  let aloneUntil = Number.NEGATIVE_INFINITY;
  return {
    async take(holder) {
      if (clock() < aloneUntil) return own.take(holder);
      try {
        return await withTimeout(shared.take(holder), PATIENCE, LATE);
      } catch (error) {
        onFailure(error);
        aloneUntil = clock() + ALONE;
        return own.take(holder);
      }
    },
  };
}
