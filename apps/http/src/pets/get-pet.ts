import { LIMITS } from '@animal-store/domain';
import { andThen, quote } from '@animal-store/domain/transport';
import { HttpError } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';
import { jsonResponse } from '../http/response.ts';
import type { PetDependencies } from './dependencies.ts';

/** When getPet was deprecated, in milliseconds since the epoch. */
const DEPRECATED_AT = Date.UTC(2026, 10, 20);

/** When getPet is removed, in milliseconds since the epoch. */
const REMOVED_AT = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;

/** The day of the removal in words. */
export const REMOVAL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(REMOVED_AT);

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
  if (DECIMAL.test(text)) return BigInt(text);
  throw new HttpError('pet_not_found', `no pet has the id ${quote(text)}: ids are integers from 1 to ${LIMITS.id.max}`);
}
