import type { Awaitable } from './awaitable.ts';

/** The number of requests that a holder may make in a window. */
export interface RatePolicy {
  /** Requests, 1 or more. */
  readonly limit: number;
  /** The time in which they may be made, in milliseconds, counted from the first of them. */
  readonly window: number;
}

/** The rest of a holder's quota (draft-ietf-httpapi-ratelimit-headers). */
export interface Quota {
  /** Whether the counted request is within the quota. */
  readonly allowed: boolean;
  /** Requests that may still be made in this window; 0 or more. */
  readonly remaining: number;
  /** Milliseconds until the window ends and the quota is whole again: 0 to the length of the window. */
  readonly resetsIn: number;
}

/** The port that counts the requests of holders of API keys: fixed windows, each from a holder's first request in it. */
export interface RateLimiter {
  /**
   * Counts one request.
   *
   * @param holder 0 to 100 code points.
   * @throws DomainError `storage_unavailable` if it can't be counted, within 5 seconds.
   */
  take(holder: string): Awaitable<Quota>;
}

/**
 * The quota that is left after this many requests of a window.
 *
 * @param resetsIn Milliseconds until the window ends. Clocks that differ or are set may make it any number.
 */
export function quotaAfter(used: number, { limit, window }: RatePolicy, resetsIn: number): Quota {
  return {
    allowed: used <= limit,
    remaining: Math.max(limit - used, 0),
    resetsIn: Math.min(Math.max(resetsIn, 0), window),
  };
}
