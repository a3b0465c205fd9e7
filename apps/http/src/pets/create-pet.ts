import type { IncomingMessage } from 'node:http';
import { andThen, type IdempotencyKey, invalidRequest, type Pet, parseNewPet } from '@animal-store/domain';
import { headerValues } from '../http/header-values.ts';
import type { Operation, OperationDependencies } from '../http/operation.ts';
import { readBody, requireJson } from '../http/request-body.ts';
import { jsonHeaders, jsonResponse } from '../http/response.ts';
import { readNewPetBody } from './new-pet-body.ts';

/** `POST /pets`: adds an animal; with an Idempotency-Key, once however often it is sent. */
export function createPet({ catalogue, petJson, basePath }: OperationDependencies): Operation {
  const created = (pet: Pet) =>
    jsonResponse(petJson(pet), 201, jsonHeaders({ location: `${basePath}/pets/${pet.id}` }));
  return (request, holder) => {
    const { incoming, outgoing } = request.env;
    requireJson(incoming);
    return readBody(incoming, outgoing).then((bytes) => {
      const key = idempotencyKey(incoming, holder);
      return andThen(catalogue.createPet(parseNewPet(readNewPetBody(bytes)), key), created);
    });
  };
}

/** Node joins repeated fields with a comma and a space, which no key may contain. */
function idempotencyKey({ headers, rawHeaders }: IncomingMessage, holder: string): IdempotencyKey | undefined {
  const key = headers['idempotency-key'] as string | undefined;
  if (key === undefined) return undefined;
  const count = key.includes(', ') ? headerValues(rawHeaders, 'idempotency-key').length : 1;
  if (count > 1) throw invalidRequest([`Idempotency-Key must be given once, was given ${count} times`]);
  return { holder, key };
}
