import type { Operation } from '../http/operation.ts';
import { createPet } from './create-pet.ts';
import type { PetDependencies } from './dependencies.ts';
import { getPet } from './get-pet.ts';
import { listPets } from './list-pets.ts';

/** The operations of the interface, in its order. Routes and the OpenAPI document are made from this list. */
export function petOperations(dependencies: PetDependencies): readonly Operation[] {
  return [listPets(dependencies), createPet(dependencies), getPet(dependencies)];
}
