import type { Context, Handler } from 'hono';
import type { Env } from './env.ts';
import type { HeaderFields, Reply } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Body, respond } from './respond.ts';

/** Lets a request pass, or throws the error that rejects it. */
export type Guard = (exchange: Exchange) => void | Promise<void>;

/**
 * What a route responds.
 *
 * @throws HttpError, DomainError
 */
export type Handle = (c: Context<Env>, exchange: Exchange) => Reply<Body> | Promise<Reply<Body>>;

/** What a route does. */
export interface Route {
  readonly handle: Handle;
  /**
   * What a request must pass before it is handled.
   *
   * @default any request passes
   */
  readonly guard?: Guard;
  /**
   * Header fields of each response of the route, errors included.
   *
   * @default {}
   */
  readonly fields?: HeaderFields;
}

/**
 * The one handler of a route. Hono makes a promise and a closure for each middleware: one more takes about 2 % of the CPU of a
 * request, so guards are functions.
 *
 * @param path The route in records.
 */
export function serve(path: string, { handle, guard, fields = {} }: Route): Handler<Env> {
  return async (c) => {
    const exchange = c.get('exchange');
    exchange.record.route = path;
    Object.assign(exchange.fields, fields);
    await guard?.(exchange);
    return respond(exchange, await handle(c, exchange));
  };
}
