import type { Catalogue, Clock } from '@animal-store/domain';
import type { DescribedOperation } from '../openapi/responses.ts';
import type { Handle } from '../route.ts';

/** One operation of the interface: its route, its description and its handler. */
export interface Operation extends DescribedOperation {
  /**
   * Reads the request, calls the use case and returns the response. It runs for requests with a valid key only.
   *
   * @throws HttpError, DomainError
   */
  readonly handle: Handle;
}

export interface OperationDependencies {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}
