import type { Clock } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';

export interface PetDependencies {
  readonly catalogue: AwaitableCatalogue;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}
