import { andThen, quote } from '@animal-store/domain/transport';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { HttpError } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';
import { jsonResponse } from '../http/response.ts';
import type { PetDependencies } from './dependencies.ts';
import { petJson } from './pet-json.ts';

/** When getPet was deprecated, in milliseconds since the epoch. */
const DEPRECATED_AT = Date.UTC(2026, 10, 20);

/** When getPet is removed, in milliseconds since the epoch. */
export const REMOVED_AT = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;

/** `GET /pets/{petId}`: one pet, until the operation's removal; 410 from then on. */
export function getPet({ catalogue, clock, basePath }: PetDependencies): Operation {
  const start = `${basePath}/pets/`.length;
  const removed = CLIENT_MESSAGES.removed(basePath);
  return {
    method: 'get',
    path: '/pets/{petId}',
    headers: {
      deprecation: `@${DEPRECATED_AT / 1000}`,
      sunset: new Date(REMOVED_AT).toUTCString(),
      link: `<${basePath}/pets>; rel="successor-version"`,
    },
    handle(request) {
      if (clock() >= REMOVED_AT) throw new HttpError('endpoint_removed', removed);
      return andThen(catalogue.getPet(readPetId(request.req.path.slice(start))), (pet) => jsonResponse(petJson(pet)));
    },
  };
}

function readPetId(text: string): bigint {
  if (DECIMAL.test(text)) return BigInt(text);
  throw new HttpError('pet_not_found', CLIENT_MESSAGES.noPet(quote(text)));
}
