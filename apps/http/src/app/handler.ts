import type { AuthenticatedKey } from '@animal-store/domain/transport';
import type { Context } from 'hono';
import type { HeaderFields, HttpError, Reply } from './errors.ts';
import type { Incoming } from './incoming.ts';

/** Hono's environment of a handler here. A server that reads requests in a faster way than the Fetch API gives `serverRequest`. */
export interface Env {
  // Not `incoming`: @hono/node-server gives Node's request under that name.
  Bindings: { readonly serverRequest?: Incoming };
}

/** What a handler gets besides Hono's context. */
export interface Call {
  readonly incoming: Incoming;
  /** Whose key the request has; empty for a route without keys. */
  readonly holder: string;
  /** `incoming.readBody`; the request does not count for load shedding meanwhile: its client decides how long that takes. */
  readBody(): Promise<Buffer>;
}

/** A response, and what its record says besides. */
export interface Handled extends Reply {
  /** Fields of the line in the log. */
  readonly details?: HeaderFields;
  /** The error behind a response that has no Error body (JSON-RPC), for the log; null or absent if there is none. */
  readonly error?: unknown;
}

/** Responds to a request, or throws the error that becomes the response. */
export type Handle = (c: Context<Env>, call: Call) => Handled | Promise<Handled>;

/** Whether a request is served, and what its response and its record say of that. */
export interface Admission {
  /** null if no key is valid. */
  readonly key: AuthenticatedKey | null;
  readonly rejection: HttpError | null;
  /** Header fields of the response, whatever it is. */
  readonly headers?: HeaderFields;
  /** Fields of the line in the log, with a rejection only: those of the handler replace them. */
  readonly details?: HeaderFields;
}

export type Admit = (incoming: Incoming) => Promise<Admission>;

export interface HandlerOptions {
  /** Header fields of each response, errors included. */
  readonly headers?: HeaderFields;
  /** Absent: everyone is served, also under overload. */
  readonly admit?: Admit;
}
