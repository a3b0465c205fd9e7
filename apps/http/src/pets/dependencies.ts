import type { Clock } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import type { PetJson } from './pet-json.ts';

/** What the operations work with. */
export interface PetDependencies {
  readonly catalogue: AwaitableCatalogue;
  readonly petJson: PetJson;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}
