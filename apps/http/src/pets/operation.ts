import type { Catalogue, Clock } from '@animal-store/domain';
import type { Context } from 'hono';
import type { Env } from '../http/exchange.ts';
import type { Headers, HttpResponse } from '../http/http-error.ts';
import type { OperationDescription } from '../openapi/responses.ts';

/** One operation of the interface: its route, its handler and its description. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** Relative to the base path, as OpenAPI writes it: `/pets/{petId}`. */
  readonly path: string;
  /** Header fields of each of its responses, errors included. */
  readonly headers?: Headers;
  /**
   * Reads the request, calls the use case and returns the response. It runs for requests with a valid key only.
   *
   * @throws HttpError, DomainError
   */
  handle(c: Context<Env>, holder: string): Promise<HttpResponse>;
  readonly description: OperationDescription;
}

export interface OperationDependencies {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}
