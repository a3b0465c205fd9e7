import { DomainError, type MonotonicClock } from '@animal-store/domain';
import type { PetStorage, Quota, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { type Awaitable, andThen } from '@animal-store/domain/transport';
import { reasonOf } from '@animal-store/observability';
import type { OnUnexpectedError } from '../http/exchange.ts';
import { HttpError, isUnexpected } from '../http/http-error.ts';
import type { Headers } from '../http/response.ts';
import { withTimeout } from '../http/timeout.ts';
import { createInProcessRateLimiter } from './in-process-rate-limiter.ts';

/** The quota of each holder of an API key, and the limiter that counts it. */
export interface RateLimit {
  readonly policy: RatePolicy;
  readonly limiter: RateLimiter;
}

/** The window of a holder's quota, in milliseconds. */
const WINDOW = 60_000;

/**
 * The limit that an operator has set.
 *
 * @param limit Requests that a holder may make in a minute; 0: any number.
 * @param storage Counts for all processes, if it can. Otherwise, and while it fails, this process counts alone.
 * @returns null if there is no limit.
 */
export function createRateLimit(
  limit: number,
  storage: Pick<PetStorage, 'createRateLimiter'>,
  onUnexpectedError: OnUnexpectedError,
  warn: (message: string, details: object) => void,
): RateLimit | null {
  if (limit === 0) return null;
  const policy = { limit, window: WINDOW };
  const monotonic = () => performance.now();
  const own = createInProcessRateLimiter(policy, monotonic);
  const shared = storage.createRateLimiter?.(policy);
  if (shared === undefined) return { policy, limiter: own };
  const onFailure = (error: unknown) => {
    if (isUnexpected(error)) onUnexpectedError(error);
    else warn('requests are counted by this process alone: the shared count failed', { reason: reasonOf(error) });
  };
  return { policy, limiter: withFallback(shared, own, monotonic, onFailure) };
}

/**
 * Counts a request of a holder.
 *
 * @returns The header fields about the quota (draft-ietf-httpapi-ratelimit-headers-10), and the rejection if it is used up.
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

/** Whole seconds, rounded up. */
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

/** How long the shared count may take, in milliseconds. */
const SHARED_TIMEOUT = 500;

const LATE = new DomainError('storage_unavailable', 'the shared count took too long');

/** How long a process counts alone after a failure, in milliseconds. */
const ALONE = 5_000;

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
  let aloneUntil = Number.NEGATIVE_INFINITY;
  return {
    async take(holder) {
      if (clock() < aloneUntil) return own.take(holder);
      try {
        return await withTimeout(shared.take(holder), SHARED_TIMEOUT, LATE);
      } catch (error) {
        onFailure(error);
        aloneUntil = clock() + ALONE;
        return own.take(holder);
      }
    },
  };
}
