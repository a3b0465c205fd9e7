import type { IncomingHttpHeaders } from 'node:http';
import type { Headers, HttpResponse } from './response.ts';

/** Why a request could not be served. */
export interface Unavailable {
  readonly reason: UnavailableReason;
  /** What the storage failed with. */
  readonly error: unknown;
}

/** The storage is out of reach or too slow; there is too much to do; the service is about to stop. */
export const UNAVAILABLE_REASONS = ['storage', 'overload', 'stopping'] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** A request and its answer, as those see it who watch the service. */
export interface Exchange {
  /** The request's X-Request-Id where it has a well-formed one, else a new UUID; returned in the answer. */
  readonly id: string;
  readonly method: string;
  /** The path with its parameters' names, or `unmatched`: one of few values whatever a client sends. */
  readonly route: string;
  /** The trace id of the request's traceparent (W3C Trace Context, level 2), or null. */
  readonly traceId: string | null;
  /** On the monotonic clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** Whose key it is, once that is known. */
  holder: string | null;
  /** Why it is answered with 503, if it is. */
  unavailable: Unavailable | null;
  /** Fields that come with whatever is answered. */
  headers: Headers;
}

/** Someone who watches. Must not throw. */
export interface Observer {
  begin?(): void;
  /**
   * @param bytes Length of the answer's body.
   * @param duration Milliseconds from the request's header section to the answer.
   */
  end(exchange: Exchange, answer: Pick<HttpResponse, 'status'>, bytes: number, duration: number): void;
}

/** Told of every error that is a fault of the service. @param requestId The request's that met with it, if it was one. */
export type OnUnexpectedError = (error: unknown, requestId?: string) => void;

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
/** Version 00 has nothing behind its 55 characters, later ones may. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** Begins an exchange. @param headers The request's, as Node has them. */
export function beginExchange(
  headers: IncomingHttpHeaders,
  method: string,
  route: string,
  accompanying: Headers,
): Exchange {
  const given = headers['x-request-id'];
  const traceparent = headers['traceparent'];
  return {
    id: typeof given === 'string' && REQUEST_ID.test(given) ? given : crypto.randomUUID(),
    method,
    route,
    traceId: typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent)?.[1] ?? null) : null,
    startedAt: performance.now(),
    holder: null,
    unavailable: null,
    headers: accompanying,
  };
}
