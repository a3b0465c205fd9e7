import type { IncomingRequest } from './incoming-request.ts';

/** Hono's environment of this application. */
export interface Env {
  /** A server that reads requests in a faster way than the Fetch API gives `request`. */
  Bindings: { readonly request?: IncomingRequest };
}
