import type { IncomingHttpHeaders } from 'node:http';
import type { Headers, HttpResponse } from '../http/response.ts';

/** Header fields that scripts may read, besides those that the Fetch standard always allows. */
const EXPOSED =
  'Link, Location, Retry-After, Deprecation, Sunset, RateLimit, RateLimit-Policy, WWW-Authenticate, Allow, Idempotent-Replayed, X-Request-Id';

/** How long a browser may cache the response to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE = '600';

/** Access for scripts of other origins (Fetch standard, HTTP CORS protocol). */
export interface Cors {
  /** The header fields of a response to a request of this origin. */
  headers(origin: string | undefined): Headers;
  /** The response to a preflight; null if the request is none. */
  preflight(method: string | undefined, headers: IncomingHttpHeaders): HttpResponse | null;
}

/**
 * @param origins The origins that get access, at least one; `*` stands for all.
 * @param methods The methods of all routes, as a list in a header field.
 */
export function createCors(origins: ReadonlySet<string>, methods: string): Cors {
  const all = origins.has('*');

  function headers(origin: string | undefined): Headers {
    if (all) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
    // Caches must not give one origin the response to another.
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
          'access-control-allow-methods': methods,
          'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id, traceparent',
          'access-control-max-age': PREFLIGHT_MAX_AGE,
        },
        body: null,
      };
    },
  };
}
