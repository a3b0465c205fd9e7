import { type AuthenticatedKey, type Awaitable, isPromise } from '@animal-store/domain/transport';
import { clientAddress, type RenderRejection } from '@animal-store/http-server';
import type { Context } from 'hono';
import { errorResponse, isUnexpected, type Unavailable, unavailableBecause } from './http-error.ts';
import type { Env } from './operation.ts';
import { type Headers, type HttpResponse, JSON_ONLY } from './response.ts';

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
export const SECURITY_HEADERS: Headers = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The route of requests that match none, for observers. */
export const UNMATCHED = 'unmatched';

/** The route of what is no request, for observers. */
const UNPARSABLE = 'unparsable';

/** One request and its response, as observers see it. */
export interface Exchange {
  /** The X-Request-Id of the request if it is well-formed, otherwise a new UUID; returned with the response. */
  readonly id: string;
  readonly method: string;
  /** The path with the names of its parameters, or `unmatched`: one of few values, whatever a client sends. */
  readonly route: string;
  /** The trace id of the request's traceparent (W3C Trace Context, level 2), or of its span if the service is traced, or null. */
  traceId: string | null;
  /** On the monotonic clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** The address of the client, see {@link clientAddress}; null if it is gone. */
  readonly client: string | null;
  /** The key of the request, once it is known to be valid. */
  key: AuthenticatedKey | null;
  /** The visible prefix of the key, if a well-formed one was rejected. */
  rejectedKey: string | null;
  unavailable: Unavailable | null;
  /** Header fields of the response, whatever it is. */
  headers: Headers;
}

/**
 * Is notified of each request and its response.
 *
 * @param bytes Length of the body of the response.
 * @param duration Milliseconds from the header section of the request to the response.
 */
export type Observer = (
  exchange: Exchange,
  response: Pick<HttpResponse, 'status'>,
  bytes: number,
  duration: number,
) => void;

/** How many requests have no response yet. */
export interface InFlight {
  count: number;
}

/** Called for every unexpected error, with the id of its request if it has one. */
export type OnUnexpectedError = (error: unknown, requestId?: string) => void;

/**
 * Combines observers to one that never throws, so that none of them changes a response or hides a request from the others.
 *
 * @param onError Called for each error that an observer throws.
 */
export function combineObservers(observers: readonly Observer[], onError: (error: unknown) => void): Observer {
  return (exchange, response, bytes, duration) => {
    for (const observe of observers) {
      try {
        observe(exchange, response, bytes, duration);
      } catch (error) {
        onError(error);
      }
    }
  };
}

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
/** Version 00 has exactly 55 characters, later ones may have more. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** A request, or the known part of one that could not be read. */
type Given = Parameters<typeof clientAddress>[0] & { readonly method?: string | undefined };

function beginExchange(given: Given, route: string, responseHeaders: Headers, trustedProxies: number): Exchange {
  const { 'x-request-id': id, traceparent } = given.headers;
  return {
    id: typeof id === 'string' && REQUEST_ID.test(id) ? id : crypto.randomUUID(),
    method: given.method ?? '-',
    route,
    traceId: typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent)?.[1] ?? null) : null,
    startedAt: performance.now(),
    client: clientAddress(given, trustedProxies),
    key: null,
    rejectedKey: null,
    unavailable: null,
    headers: responseHeaders,
  };
}

/** Returns the response to a request, or throws the error that becomes the response. */
export type Responder = (request: Context<Env>, exchange: Exchange) => Awaitable<HttpResponse>;

/** A handler as Hono calls it. */
export type Handler = (request: Context<Env>) => Awaitable<Response>;

/** Makes the handler of a route. `route` is its name for observers, `headers` are fields of every response. */
export type CreateHandler = (route: string, responder: Responder, headers?: Headers) => Handler;

export interface HandlerDependencies {
  readonly observe: Observer;
  readonly inFlight: InFlight;
  readonly onUnexpectedError: OnUnexpectedError;
  /** How many proxies in front of the service add the address of the client to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Header fields that depend on the origin of the request; null if there are none. */
  readonly originHeaders: ((origin: string | undefined) => Headers) | null;
}

/**
 * Prepares the one handler of each route. There is no middleware: a second handler on a route makes Hono compose them with
 * promises, at half the speed.
 */
export function createHandlers({
  observe,
  inFlight,
  onUnexpectedError,
  trustedProxies,
  originHeaders,
}: HandlerDependencies): CreateHandler {
  return (route, responder, headers) => {
    const fixed = { ...SECURITY_HEADERS, ...headers };
    return (request) => {
      const { incoming } = request.env;
      const all = originHeaders === null ? fixed : { ...fixed, ...originHeaders(incoming.headers.origin) };
      const exchange = beginExchange(incoming, route, all, trustedProxies);
      inFlight.count += 1;
      const succeed = (response: HttpResponse) => {
        inFlight.count -= 1;
        return respond(exchange, response, observe);
      };
      const fail = (error: unknown) => {
        if (isUnexpected(error)) onUnexpectedError(error, exchange.id);
        exchange.unavailable = unavailableBecause(error);
        return succeed(errorResponse(error));
      };
      try {
        const response = responder(request, exchange);
        return isPromise(response) ? response.then(succeed, fail) : succeed(response);
      } catch (error) {
        return fail(error);
      }
    };
  };
}

/**
 * Ends an exchange in the one shape that @hono/node-server writes without building a Fetch API response: a string or bytes,
 * and a plain object of header fields. Reading `.headers` or `.body` of the result loses that.
 */
function respond(exchange: Exchange, response: HttpResponse, observe: Observer): Response {
  const { status, body, headers } = response;
  const bytes = body === null ? 0 : Buffer.byteLength(body);
  observe(exchange, response, bytes, performance.now() - exchange.startedAt);
  return new Response(body, {
    status,
    // Copying one object and setting members is fast in V8, copying a second one into it is not.
    headers:
      headers === JSON_ONLY
        ? { ...exchange.headers, 'content-type': 'application/json', 'x-request-id': exchange.id }
        : { ...exchange.headers, ...headers, 'x-request-id': exchange.id },
  });
}

/** Renders the server's rejections as Error bodies. */
export function createRejectionRenderer(observe: Observer, trustedProxies: number): RenderRejection {
  return (rejection, { request, socket }) => {
    const { headers = {}, method } = request ?? {};
    // A tunnel is for proxies: its target is no path.
    const route = request === null || method === 'CONNECT' ? UNPARSABLE : UNMATCHED;
    const exchange = beginExchange({ headers, socket, method }, route, SECURITY_HEADERS, trustedProxies);
    const response = errorResponse(rejection);
    const { body } = response;
    observe(exchange, response, Buffer.byteLength(body), 0);
    return { headers: { ...SECURITY_HEADERS, ...response.headers, 'x-request-id': exchange.id }, body };
  };
}
