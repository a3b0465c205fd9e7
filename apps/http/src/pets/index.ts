import type { Clock } from '@animal-store/domain';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import type { DescribedOperation } from '../openapi/document.ts';
import { createPet } from './create-pet.ts';
import { getPet } from './get-pet.ts';
import { listPets } from './list-pets.ts';

export interface PetDependencies {
  readonly catalogue: AwaitableCatalogue;
  readonly clock: Clock;
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
}

/** The operations of the interface, in its order. Routes and the OpenAPI document are made from this list. */
export function petOperations(dependencies: PetDependencies): readonly DescribedOperation[] {
  return [listPets(dependencies), createPet(dependencies), getPet(dependencies)];
}
