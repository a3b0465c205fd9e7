import type { Catalogue, Clock } from '@animal-store/domain';
import type { Handle } from '../handler.ts';
import type { OperationDescription } from '../openapi/responses.ts';

/** One operation of the interface: its route, its handler and its description. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** Relative to the base path, as OpenAPI writes it: `/pets/{petId}`. */
  readonly path: string;
  /** Header fields of each of its responses, errors included. */
  readonly headers?: Readonly<Record<string, { readonly value: string; readonly description: string }>>;
  /**
   * Reads the request, calls the use case and returns the response. It runs for requests with a valid key only.
   *
   * It is the one handler of its route, without middleware: Hono composes two handlers with promises, at twice the CPU.
   *
   * @throws HttpError, DomainError
   */
  readonly handle: Handle;
  readonly description: OperationDescription;
}

export interface OperationDependencies {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}
