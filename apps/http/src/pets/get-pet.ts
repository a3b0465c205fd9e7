import { LIMITS } from '@animal-store/domain';
import { andThen } from '@animal-store/domain/transport';
import { HttpError } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';
import { jsonResponse } from '../http/response.ts';
import type { PetDependencies } from './dependencies.ts';

/** When getPet was deprecated, in milliseconds since the epoch. */
const DEPRECATED_AT = Date.UTC(2026, 10, 20);

/** When getPet is removed, in milliseconds since the epoch: 5 December 2030. */
const REMOVED_AT = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;

export const removedMessage = (basePath: string) =>
  `this endpoint was removed: use GET ${basePath}/pets, which lists animals`;

/** `GET /pets/{petId}`: one pet, until the operation's removal; 410 from then on. */
export function getPet({ catalogue, petJson, clock, basePath }: PetDependencies): Operation {
  const start = `${basePath}/pets/`.length;
  return {
    operationId: 'getPet',
    method: 'get',
    path: '/pets/{petId}',
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
