import type { Awaitable } from '@animal-store/domain/transport';
import type { IncomingRequest, OutgoingResponse } from '@animal-store/http-server';
import type { Context } from 'hono';
import type { HttpResponse } from './response.ts';

/** Hono's environment of a handler here: Node's own request and response beside the Fetch API's. */
export interface Env {
  Bindings: { readonly incoming: IncomingRequest; readonly outgoing: OutgoingResponse };
}

/** A header field of every response, errors included. */
export interface FixedHeader {
  readonly value: string;
  /** For the OpenAPI document. */
  readonly description: string;
}

/** One operation of the interface: its route and its handler. */
export interface Operation {
  /** Its name in the OpenAPI document. */
  readonly operationId: string;
  readonly method: 'get' | 'post';
  /** Relative to the base path, as OpenAPI writes it: `/pets/{petId}`. At most one parameter, as the last segment. */
  readonly path: string;
  /** The header fields of each of its responses, by their names in the document. */
  readonly headers?: Readonly<Record<string, FixedHeader>>;
  /**
   * Reads the request, calls the use case and returns the response. It runs for requests with a valid key only.
   *
   * @throws HttpError, DomainError: the handler of the route renders them.
   */
  handle(request: Context<Env>, holder: string): Awaitable<HttpResponse>;
}
