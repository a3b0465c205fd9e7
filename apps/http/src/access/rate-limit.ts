import { createRateLimiter } from '@animal-store/app-kit';
import type { PetStorage, Quota, RatePolicy } from '@animal-store/domain/ports';
import { type Awaitable, andThen, reasonOf } from '@animal-store/domain/transport';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import type { OnUnexpectedError } from '../http/exchange.ts';
import { HttpError, isUnexpected } from '../http/http-error.ts';
import { OPERATOR_MESSAGES } from '../http/operator-messages.ts';
import type { Headers } from '../http/response.ts';

/**
 * Counts a request of a holder.
 *
 * @returns The header fields about the quota (draft-ietf-httpapi-ratelimit-headers-10), and the rejection if it is used up.
 */
export type RateLimit = (holder: string) => Awaitable<{ headers: Headers; rejection: HttpError | null }>;

/** In milliseconds. */
const WINDOW = 60_000;

/**
 * Limits the requests of each holder, with a count that the storage shares if it can.
 *
 * @param limit How many a holder may make in a minute; 0: any number, then the result is null.
 */
export function createRateLimit(
  limit: number,
  storage: Pick<PetStorage, 'createRateLimiter'>,
  onUnexpectedError: OnUnexpectedError,
  warn: (message: string, details: object) => void,
): RateLimit | null {
  if (limit === 0) return null;
  const policy = { limit, window: WINDOW };
  const limiter = createRateLimiter(policy, storage, (error) => {
    if (isUnexpected(error)) onUnexpectedError(error);
    else warn(OPERATOR_MESSAGES.countsAlone, { reason: reasonOf(error) });
  });
  return (holder) =>
    andThen(limiter.take(holder), (quota) => ({
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
