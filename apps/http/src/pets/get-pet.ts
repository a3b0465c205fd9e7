import { LIMITS } from '@animal-store/domain';
import { andThen } from '@animal-store/domain/transport';
import { HttpError } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';
import { jsonResponse } from '../http/response.ts';
import { errorResponseObject, jsonContent } from '../openapi/building-blocks.ts';
import type { PetDependencies } from './dependencies.ts';
import { EXAMPLE_PET, PetIdParameterSchema } from './schemas.ts';

/** When getPet was deprecated, in milliseconds since the epoch. */
const DEPRECATED_AT = Date.UTC(2026, 10, 20);

/** When getPet is removed, in milliseconds since the epoch: 5 December 2030. */
const REMOVED_AT = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;

const removedMessage = (basePath: string) => `this endpoint was removed: use GET ${basePath}/pets, which lists animals`;

const description = (basePath: string) => ({
  operationId: 'getPet',
  tags: ['Pets'],
  summary: 'Get an animal',
  description: 'Returns one animal. Removed on 5 December 2030: use `GET /pets` with the status filter instead.',
  deprecated: true,
  parameters: [
    {
      name: 'petId',
      in: 'path',
      required: true,
      description: 'Identifier of the animal to retrieve.',
      schema: PetIdParameterSchema,
    },
  ],
  responses: {
    200: { description: 'The animal.', content: jsonContent('Pet', EXAMPLE_PET) },
    404: errorResponseObject('pet_not_found', 'no animal with this identifier.', 'no pet has the id 7'),
    410: errorResponseObject('endpoint_removed', 'the operation has been removed.', removedMessage(basePath)),
  },
});

/** `GET /pets/{petId}`: one pet, until the operation's removal; 410 from then on. */
export function getPet({ catalogue, petJson, clock, basePath }: PetDependencies): Operation {
  const start = `${basePath}/pets/`.length;
  return {
    method: 'get',
    path: '/pets/{petId}',
    description: description(basePath),
    headers: {
      Deprecation: {
        value: `@${DEPRECATED_AT / 1000}`,
        description: 'Since when the operation is deprecated (RFC 9745).',
      },
      Sunset: {
        value: new Date(REMOVED_AT).toUTCString(),
        description: 'When the operation is removed (RFC 8594).',
      },
      Link: {
        value: `<${basePath}/pets>; rel="successor-version"`,
        description: 'The replacement of the operation (RFC 5829).',
      },
    },
    handle(request) {
      if (clock() >= REMOVED_AT) throw new HttpError('endpoint_removed', removedMessage(basePath));
      return andThen(catalogue.getPet(readPetId(request.req.path.slice(start))), (pet) => jsonResponse(petJson(pet)));
    },
  };
}

function readPetId(text: string): bigint {
  const id = DECIMAL.test(text) ? BigInt(text) : null;
  if (id === null || id > LIMITS.id.max) {
    throw new HttpError('pet_not_found', `no pet has this id: ids are integers from 1 to ${LIMITS.id.max}`);
  }
  return id;
}
