import type { IncomingHttpHeaders } from 'node:http';
import type { AuthenticatedKey } from '@animal-store/domain/transport';
import type { Headers, HttpResponse } from './response.ts';

/** Why a response is 503. */
export interface Unavailable {
  readonly reason: UnavailableReason;
  /** The error behind it. */
  readonly error: unknown;
}

/** The storage is unavailable; the service is overloaded; the service is stopping. */
export const UNAVAILABLE_REASONS = ['storage', 'overload', 'stopping'] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** The route of requests that match none, for observers. */
export const UNMATCHED = 'unmatched';

/** The route of what is no request, for observers. */
export const UNPARSABLE = 'unparsable';

/** One request and its response, as observers see it. */
export interface Exchange {
  /** The X-Request-Id of the request if it is well-formed, else a new UUID; returned with the response. */
  readonly id: string;
  readonly method: string;
  /** The path with the names of its parameters, or `unmatched`: one of few values, whatever a client sends. */
  readonly route: string;
  /** Of the request's traceparent (W3C Trace Context, level 2) or, if the service is traced, of its span; null if there is neither. */
  traceId: string | null;
  /** On the monotonic clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** The address of the client, see {@link clientAddress}; null if it is gone. */
  readonly client: string | null;
  /** The key of the request, once it is known to be valid. */
  key: AuthenticatedKey | null;
  /** The visible prefix of the key, if a well-formed one was rejected. */
  rejectedKey: string | null;
  /** Set if the response is 503. */
  unavailable: Unavailable | null;
  /** Header fields of the response, whatever it is. */
  headers: Headers;
}

/** Is notified of each request and its response. */
export interface Observer {
  begin?(): void;
  /**
   * @param bytes Length of the body of the response.
   * @param duration Milliseconds from the header section of the request to the response.
   */
  end(exchange: Exchange, response: Pick<HttpResponse, 'status'>, bytes: number, duration: number): void;
}

/**
 * Called for every unexpected error.
 *
 * @param requestId The id of its request, if it has one.
 */
export type OnUnexpectedError = (error: unknown, requestId?: string) => void;

/**
 * Combines observers to one that never throws, so that none of them changes a response or hides a request from the others.
 *
 * @param onError Called for each error that an observer throws.
 */
export function combineObservers(observers: readonly Observer[], onError: (error: unknown) => void): Observer {
  return {
    begin() {
      for (const observer of observers) {
        try {
          observer.begin?.();
        } catch (error) {
          onError(error);
        }
      }
    },
    end(exchange, response, bytes, duration) {
      for (const observer of observers) {
        try {
          observer.end(exchange, response, bytes, duration);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
/** Version 00 has exactly 55 characters, later ones may have more. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/**
 * Begins an exchange.
 *
 * @param headers The header fields of the request.
 * @param responseHeaders Those of the response.
 */
export function beginExchange(
  headers: IncomingHttpHeaders,
  method: string,
  route: string,
  responseHeaders: Headers,
  client: string | null,
): Exchange {
  const given = headers['x-request-id'];
  const traceparent = headers['traceparent'];
  return {
    id: typeof given === 'string' && REQUEST_ID.test(given) ? given : crypto.randomUUID(),
    method,
    route,
    traceId: typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent)?.[1] ?? null) : null,
    startedAt: performance.now(),
    client,
    key: null,
    rejectedKey: null,
    unavailable: null,
    headers: responseHeaders,
  };
}
