import { type Awaitable, isPromise } from '@animal-store/domain/transport';
import { clientAddress, type RenderRejection } from '@animal-store/http-server';
import type { Context } from 'hono';
import {
  beginExchange,
  type Exchange,
  type Observer,
  type OnUnexpectedError,
  UNMATCHED,
  UNPARSABLE,
} from './exchange.ts';
import { errorResponse, isUnexpected, unavailableBecause } from './http-error.ts';
import type { Env } from './operation.ts';
import { type Headers, type HttpResponse, JSON_ONLY } from './response.ts';

/**
 * Header fields of every response (OWASP REST Security Cheat Sheet): no content sniffing, no caching, nothing for a browser to
 * run.
 */
export const SECURITY_HEADERS: Headers = Object.freeze({
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});

/** Returns the response to a request, or throws the error that becomes the response. */
export type Responder = (request: Context<Env>, exchange: Exchange) => Awaitable<HttpResponse>;

/** A handler as Hono calls it. */
export type Handler = (request: Context<Env>) => Awaitable<Response>;

/** What every handler works with. */
export interface HandlerDependencies {
  readonly observer: Observer;
  readonly onUnexpectedError: OnUnexpectedError;
  /** How many proxies in front of the service add the address of the client to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Header fields that depend on the origin of the request; null if there are none. */
  readonly originHeaders: ((origin: string | undefined) => Headers) | null;
}

const NO_HEADERS: Headers = Object.freeze({});

/**
 * Makes the handler of a route.
 *
 * @param route Its name for observers.
 * @param headers Fields of every response.
 */
export type CreateHandler = (route: string, responder: Responder, headers?: Headers) => Handler;

/**
 * Prepares the one handler of each route. There is no middleware: a second handler on a route makes Hono compose them with
 * promises, at half the speed.
 */
export function createHandlers({
  observer,
  onUnexpectedError,
  trustedProxies,
  originHeaders,
}: HandlerDependencies): CreateHandler {
  return (route, responder, headers = NO_HEADERS) => {
    const fixed = { ...SECURITY_HEADERS, ...headers };
    return (request) => {
      const { incoming } = request.env;
      const all = originHeaders === null ? fixed : { ...fixed, ...originHeaders(incoming.headers.origin) };
      const exchange = beginExchange(
        incoming.headers,
        incoming.method as string,
        route,
        all,
        clientAddress(incoming, trustedProxies),
      );
      observer.begin?.();
      const succeed = (response: HttpResponse) => respond(exchange, response, observer);
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
function respond(exchange: Exchange, response: HttpResponse, observer: Observer): Response {
  const { status, body, headers } = response;
  const bytes = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  const duration = performance.now() - exchange.startedAt;
  observer.end(exchange, response, bytes, duration);
  return new Response(body, {
    status,
    // Copying one object and setting members is fast in V8, copying a second one into it is not.
    headers:
      headers === JSON_ONLY
        ? { ...exchange.headers, 'content-type': 'application/json', 'x-request-id': exchange.id }
        : { ...exchange.headers, ...headers, 'x-request-id': exchange.id },
  });
}

/**
 * Renders as Error bodies what the server rejects before it reaches a route.
 *
 * @param observer Notified of each.
 */
export function createRejectionRenderer(observer: Observer, trustedProxies: number): RenderRejection {
  return (rejection, { request, socket }) => {
    const { headers = {}, method = '-' } = request ?? {};
    // A tunnel is for proxies: its target is no path.
    const route = request === null || method === 'CONNECT' ? UNPARSABLE : UNMATCHED;
    const client = clientAddress({ headers, socket }, trustedProxies);
    const exchange = beginExchange(headers, method, route, SECURITY_HEADERS, client);
    const response = errorResponse(rejection);
    const body = String(response.body);
    observer.begin?.();
    observer.end(exchange, response, Buffer.byteLength(body), 0);
    return { headers: { ...SECURITY_HEADERS, ...response.headers, 'x-request-id': exchange.id }, body };
  };
}
