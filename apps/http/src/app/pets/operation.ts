import type { Catalogue, Clock } from '@animal-store/domain';
import type { Handler } from 'hono';
import type { Env, Middleware } from '../env.ts';
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
   * @throws HttpError, DomainError
   */
  readonly handle: Handler<Env>;
  readonly description: OperationDescription;
}

export interface OperationDependencies {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}

/** Adds the header fields of an operation to each of its responses. */
export function addHeaders(headers: NonNullable<Operation['headers']>): Middleware {
  const fields = Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value]));
  return (c, next) => {
    Object.assign(c.get('served').fields, fields);
    return next();
  };
}
