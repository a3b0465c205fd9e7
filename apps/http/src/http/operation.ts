import type { ServerResponse } from 'node:http';
import type { Awaitable, Catalogue, Clock } from '@animal-store/domain';
import type { Context } from 'hono';
import type { PetJson } from '../pets/pet-json.ts';
import type { Incoming } from './request-target.ts';
import type { HttpResponse } from './response.ts';

/** What Hono hands to a handler here: Node's own request beside the Fetch API's. */
export interface Env {
  Bindings: { readonly incoming: Incoming; readonly outgoing: ServerResponse };
}

/** What an operation works with. */
export interface OperationDependencies {
  readonly catalogue: Catalogue;
  readonly petJson: PetJson;
  readonly clock: Clock;
  /** Where the operations' paths begin: `/v1`, without a slash at the end. */
  readonly basePath: string;
}

/**
 * One operation of the interface: reads the request, calls the use case, writes the answer. It is called for requests
 * with a valid key only, and throws what it does not answer.
 *
 * @param holder Whose key it is.
 */
export type Operation = (request: Context<Env>, holder: string) => Awaitable<HttpResponse>;
