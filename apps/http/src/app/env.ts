import type { AuthenticatedKey } from '@animal-store/domain/transport';
import type { MiddlewareHandler } from 'hono';
import type { Incoming } from './incoming.ts';
import type { RequestRecord } from './record.ts';

/** Hono's environment of this application. */
export interface Env {
  /** A server that reads requests in a faster way than the Fetch API gives `serverRequest`. */
  // Not `incoming`: @hono/node-server gives Node's request under that name.
  Bindings: { readonly serverRequest?: Incoming };
  Variables: {
    readonly served: ServedRequest;
    /** Behind `requireKey` only. */
    readonly key: AuthenticatedKey;
  };
}

export type Middleware = MiddlewareHandler<Env>;

/** A request while it is served. */
export interface ServedRequest {
  readonly incoming: Incoming;
  readonly record: RequestRecord;
  /** Header fields of the response, whatever it is. Middleware adds to them before it calls `next`. */
  readonly fields: Record<string, string>;
  /** What `respond` has made, with all its header fields. */
  response: Response | null;
  /**
   * Reads the body, which middleware may have read before. The request does not count for load shedding meanwhile: its client
   * decides how long that takes.
   *
   * @throws HttpError as `Incoming.readBody`
   */
  readBody(): Promise<Buffer>;
}
