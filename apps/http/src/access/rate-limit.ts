import { createRateLimiter } from '@animal-store/app-kit';
import type { PetStorage, Quota, RateLimiter, RatePolicy } from '@animal-store/domain/ports';
import { type Awaitable, andThen, reasonOf } from '@animal-store/domain/transport';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import type { OnUnexpectedError } from '../http/exchange.ts';
import { HttpError, isUnexpected } from '../http/http-error.ts';
import { OPERATOR_MESSAGES } from '../http/operator-messages.ts';
import type { Headers } from '../http/response.ts';

/** The quota of each holder of an API key, and the limiter that counts it. */
export interface RateLimit {
  readonly policy: RatePolicy;
  readonly limiter: RateLimiter;
}

/** Limits the requests of each holder, with a count that the storage shares if it can. */
export function createRateLimit(
  policy: RatePolicy,
  storage: Pick<PetStorage, 'createRateLimiter'>,
  onUnexpectedError: OnUnexpectedError,
  warn: (message: string, details: object) => void,
): RateLimit {
  const limiter = createRateLimiter(policy, storage, (error) => {
    if (isUnexpected(error)) onUnexpectedError(error);
    else warn(OPERATOR_MESSAGES.countsAlone, { reason: reasonOf(error) });
  });
  return { policy, limiter };
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
  const message = CLIENT_MESSAGES.quotaUsedUp(limit, seconds(window), wait);
  return new HttpError('too_many_requests', message, { 'retry-after': String(wait) });
}
