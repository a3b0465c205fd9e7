import { type Awaitable, isPromise } from '@animal-store/domain/transport';
import { clientAddress } from '@animal-store/http-server';
import type { Context } from 'hono';
import { beginExchange, type Exchange, type Observer, type OnUnexpectedError } from './exchange.ts';
import { errorResponse, isUnexpected, unavailableBecause } from './http-error.ts';
import type { Env } from './operation.ts';
import { respond, SECURITY_HEADERS } from './respond.ts';
import type { Headers, HttpResponse } from './response.ts';

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
 * Makes the one handler of each route. There is no middleware: a second handler on a route makes Hono compose them with
 * promises, at half the speed.
 *
 * @returns Makes the handler of a route. @param route Its name for observers. @param headers Fields of every response.
 */
export function createHandlers({ observer, onUnexpectedError, trustedProxies, originHeaders }: HandlerDependencies) {
  return (route: string, responder: Responder, headers = NO_HEADERS): Handler => {
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
