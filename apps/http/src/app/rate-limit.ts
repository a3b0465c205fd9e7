import { keyHolder } from './auth.ts';
import { type HeaderFields, HttpError } from './errors.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import type { Guard } from './route.ts';

/** In milliseconds. */
const WINDOW = 60_000;

/** The requests of a holder in a window that begins with the first of them. */
interface Window {
  requests: number;
  readonly endsAt: number;
}

/**
 * Counts a request of a holder.
 *
 * @returns The header fields about the quota (draft-ietf-httpapi-ratelimit-headers-10), and the rejection if it is used up.
 */
export type RateLimit = (holder: string) => { headers: HeaderFields; rejection: HttpError | null };

/** Whole seconds, rounded up. */
const seconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);

/**
 * Limits the requests of each holder in this process.
 *
 * @param limit How many a holder may make in a minute, 1 or more.
 * @param clock In milliseconds.
 */
export function createRateLimit(limit: number, clock = () => performance.now()): RateLimit {
  // As many as there are holders of valid keys.
  const windows = new Map<string, Window>();
  return (holder) => {
    // Whole: a sum of fractions may be rounded up.
    const now = Math.floor(clock());
    let window = windows.get(holder);
    if (window === undefined || now >= window.endsAt) {
      window = { requests: 0, endsAt: now + WINDOW };
      windows.set(holder, window);
    }
    window.requests += 1;
    const wait = seconds(window.endsAt - now);
    const headers = {
      'ratelimit-policy': `"default";q=${limit};w=${seconds(WINDOW)}`,
      ratelimit: `"default";r=${Math.max(limit - window.requests, 0)};t=${wait}`,
    };
    if (window.requests <= limit) return { headers, rejection: null };
    const message = CLIENT_MESSAGES.quotaUsedUp(limit, seconds(WINDOW), wait);
    return { headers, rejection: new HttpError('too_many_requests', message, { 'retry-after': String(wait) }) };
  };
}

/** Rejects requests of holders that have used up their quota. */
export function limitRate(count: RateLimit): Guard {
  return (exchange) => {
    const { headers, rejection } = count(keyHolder(exchange));
    Object.assign(exchange.fields, headers);
    if (rejection !== null) throw rejection;
  };
}
