import type { Awaitable } from '@animal-store/domain/transport';
import type { IncomingRequest, OutgoingResponse } from '@animal-store/http-server';
import type { Context } from 'hono';
import type { Headers, HttpResponse } from './response.ts';

/** Hono's environment of a handler here: Node's own request and response beside the Fetch API's. */
export interface Env {
  Bindings: { readonly incoming: IncomingRequest; readonly outgoing: OutgoingResponse };
}

/** One operation of the interface: its route and its handler. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** Relative to the base path, as OpenAPI writes it: `/pets/{petId}`. At most one parameter, as the last segment. */
  readonly path: string;
  /** Header fields of each of its responses, errors included. */
  readonly headers?: Headers;
  /**
   * Reads the request, calls the use case and returns the response. It runs for requests with a valid key only.
   *
   * @throws HttpError, DomainError: the handler of the route renders them.
   */
  handle(request: Context<Env>, holder: string): Awaitable<HttpResponse>;
}
