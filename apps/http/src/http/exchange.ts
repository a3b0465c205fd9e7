import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { AuthenticatedKey } from '@animal-store/domain/transport';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { errorResponse, type Headers, type HttpResponse } from './http-error.ts';
import { createTurn } from './turn.ts';

/** Hono's environment of a handler here: Node's own request and response beside the Fetch API's. */
export interface Env {
  Bindings: HttpBindings;
}

/** Responds to a request, or throws the error that becomes the response. */
export type Handle = (c: Context<Env>, record: RequestRecord) => HttpResponse | Promise<HttpResponse>;

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
export const SECURITY_HEADERS: Headers = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The route of requests that match none, in records. */
export const UNMATCHED = 'unmatched';
/** The route of bytes that are no request, in records. */
const UNPARSABLE = 'unparsable';

/** One request for the log and the metrics. */
export interface RequestRecord {
  /** The X-Request-Id of the request if it is well-formed, otherwise a new UUID; returned with the response. */
  readonly id: string;
  readonly method: string;
  /** The path with the names of its parameters, or `unmatched`: one of few values, whatever a client sends. */
  readonly route: string;
  /** The trace id of the request's traceparent (W3C Trace Context, level 2), or null. */
  readonly traceId: string | null;
  /** On the monotonic clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** The address of the client; null if it is gone. */
  readonly client: string | null;
  /** The key of the request, once it is known to be valid. */
  key: AuthenticatedKey | null;
  /** The visible prefix of the key, if a well-formed one was rejected. */
  rejectedKey: string | null;
  /** The error that became the response, or null. */
  error: unknown;
  /** Header fields of the response, whatever it is. */
  headers: Headers;
}

/** Is notified of each request with its response. */
export type Observe = (record: RequestRecord, response: HttpResponse) => void;

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
/** Version 00 has exactly 55 characters, later ones may have more. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/**
 * The address of the client. Behind proxies that is the entry of X-Forwarded-For that the outermost of them wrote: the entries
 * before it come from the client and may be forged.
 */
function clientAddress(forwarded: unknown, socket: Socket, proxies: number): string | null {
  const entry = proxies > 0 ? String(forwarded).split(',').at(-proxies)?.trim() : undefined;
  return entry !== undefined && isIP(entry) !== 0 ? entry : (socket.remoteAddress ?? null);
}

/** Wraps what becomes a response: records, request ids, errors as bodies. */
export interface Exchange {
  /** How many requests have no response yet. */
  inFlight(): number;
  /** Makes the one handler of a route. `headers` are fields of each of its responses, errors included. */
  handler(route: string, handle: Handle, headers?: Headers): (c: Context<Env>) => Promise<Response>;
  /** The response to a request that no handler gets. `request` is null for bytes that are no request. */
  reject(error: unknown, request: IncomingMessage | null, socket: Socket): HttpResponse;
}

/** @param trustedProxies How many proxies in front of the service add the address of the client to X-Forwarded-For. */
export function createExchange(observe: Observe, trustedProxies: number): Exchange {
  let inFlight = 0;
  const endOfTurn = createTurn();

  function begin(
    request: IncomingMessage | null,
    socket: Socket,
    route: string,
    responseHeaders: Headers,
  ): RequestRecord {
    const { headers = {}, method = '-' } = request ?? {};
    const { 'x-request-id': id, traceparent, 'x-forwarded-for': forwarded } = headers;
    return {
      id: typeof id === 'string' && REQUEST_ID.test(id) ? id : crypto.randomUUID(),
      method,
      route,
      traceId: typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent)?.[1] ?? null) : null,
      startedAt: performance.now(),
      client: clientAddress(forwarded, socket, trustedProxies),
      key: null,
      rejectedKey: null,
      error: null,
      headers: responseHeaders,
    };
  }

  function finish(record: RequestRecord, response: HttpResponse): HttpResponse {
    observe(record, response);
    return { ...response, headers: { ...record.headers, ...response.headers, 'x-request-id': record.id } };
  }

  return {
    inFlight: () => inFlight,
    handler(route, handle, fixed = {}) {
      const fixedHeaders = { ...SECURITY_HEADERS, ...fixed };
      return async (c) => {
        const { incoming } = c.env;
        const record = begin(incoming, incoming.socket, route, fixedHeaders);
        inFlight += 1;
        let response: HttpResponse;
        try {
          response = await handle(c, record);
        } catch (error) {
          record.error = error;
          response = errorResponse(error);
        }
        inFlight -= 1;
        await endOfTurn();
        // A plain object of header fields and a string: @hono/node-server writes them without a Fetch API response.
        const { status, headers, body } = finish(record, response);
        return new Response(body, { status, headers });
      };
    },
    reject(error, request, socket) {
      const record = begin(request, socket, request === null ? UNPARSABLE : UNMATCHED, SECURITY_HEADERS);
      record.error = error;
      return finish(record, errorResponse(error));
    },
  };
}
