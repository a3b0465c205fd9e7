import type { IncomingHttpHeaders } from 'node:http';
import type { Headers, HttpResponse } from '../http/response.ts';

/** Fields that a script may read beside those that the Fetch standard lets it read anyway. */
const EXPOSED =
  'Link, Location, Retry-After, Deprecation, Sunset, RateLimit, RateLimit-Policy, WWW-Authenticate, Allow, X-Request-Id';

/** How long a browser may remember what a preflight said, in seconds. */
const PREFLIGHT_MAX_AGE = '600';

/** Lets scripts of other origins call the service (Fetch standard, HTTP CORS protocol). */
export interface Cors {
  /** The fields for an answer to a request of this origin. */
  headers(origin: string | undefined): Headers;
  /** The answer to a preflight; null where the request is none. */
  preflight(method: string | undefined, headers: IncomingHttpHeaders): HttpResponse | null;
}

/** @param origins Those that are let in, at least one; `*` lets in all. */
export function createCors(origins: ReadonlySet<string>): Cors {
  const all = origins.has('*');

  function headers(origin: string | undefined): Headers {
    if (all) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
    // Caches must not give one origin the answer to another.
    if (origin === undefined || !origins.has(origin)) return { vary: 'Origin' };
    return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
  }

  return {
    headers,
    preflight(method, given) {
      const isPreflight = method === 'OPTIONS' && given['access-control-request-method'] !== undefined;
      if (!isPreflight || !('access-control-allow-origin' in headers(given.origin))) return null;
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': 'GET, HEAD, POST',
          'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id, traceparent',
          'access-control-max-age': PREFLIGHT_MAX_AGE,
        },
        body: null,
      };
    },
  };
}
