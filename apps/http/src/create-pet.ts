import { andThen, type IdempotencyKey, type Pet, parseNewPet } from '@animal-store/domain';
import { jsonAnswer, jsonHeaders } from './answer.ts';
import { readNewPetBody } from './new-pet-body.ts';
import type { Operation, OperationDependencies } from './operation.ts';
import { readBody, requireJson } from './request-body.ts';

/** `POST /pets`: adds an animal; with an Idempotency-Key, once however often it is sent. */
export function createPet({ catalogue, petJson, basePath }: OperationDependencies): Operation {
  const created = (pet: Pet) => jsonAnswer(petJson(pet), 201, jsonHeaders({ location: `${basePath}/pets/${pet.id}` }));
  return (request, holder) => {
    const { incoming, outgoing } = request.env;
    requireJson(incoming);
    return readBody(incoming, outgoing).then((bytes) => {
      const key = idempotencyKey(incoming.headers['idempotency-key'], holder);
      return andThen(catalogue.createPet(parseNewPet(readNewPetBody(bytes)), key), created);
    });
  };
}

/** Node joins repeated fields with a comma and a space, which no key may contain: the domain refuses them. */
function idempotencyKey(field: string | string[] | undefined, holder: string): IdempotencyKey | undefined {
  return field === undefined ? undefined : { holder, key: String(field) };
}
