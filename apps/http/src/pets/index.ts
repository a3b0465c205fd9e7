import type { Operation } from '../http/operation.ts';
import { createPet } from './create-pet.ts';
import type { PetDependencies } from './dependencies.ts';
import { getPet } from './get-pet.ts';
import { listPets } from './list-pets.ts';
import { memoized, petJson } from './pet-json.ts';

export { PET_SCHEMAS } from './schemas.ts';

/** What the operations are made from. */
export interface PetOptions extends Omit<PetDependencies, 'petJson'> {
  /** Whether the storage returns the same object for an unchanged pet again, so that its JSON text is worth caching. */
  readonly returnsSamePetObjects: boolean;
}

/** The operations of the interface, in its order. Routes and the OpenAPI document are made from this list. */
export function petOperations({ returnsSamePetObjects, ...others }: PetOptions): readonly Operation[] {
  const dependencies = { ...others, petJson: returnsSamePetObjects ? memoized(petJson) : petJson };
  return [listPets(dependencies), createPet(dependencies), getPet(dependencies)];
}
