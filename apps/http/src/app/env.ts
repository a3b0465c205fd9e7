import type { MiddlewareHandler } from 'hono';
import type { Exchange } from './exchange.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Hono's environment of this application. */
export interface Env {
  /** A server that reads requests in a faster way than the Fetch API gives `request`. */
  Bindings: { readonly request?: IncomingRequest };
  Variables: { readonly exchange: Exchange };
}

export type Middleware = MiddlewareHandler<Env>;
