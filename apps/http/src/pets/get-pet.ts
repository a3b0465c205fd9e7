import { andThen, DomainError, PET_ID_MAX } from '@animal-store/domain';
import { HttpError } from '../http/http-error.ts';
import type { Operation, OperationDependencies } from '../http/operation.ts';
import { jsonResponse } from '../http/response.ts';

/** When reading a single animal was deprecated, in milliseconds since the epoch. */
export const DEPRECATED_AT: number = Date.UTC(2026, 10, 20);

/** When reading a single animal ends, in milliseconds since the epoch: 5 December 2030. */
export const REMOVED_AT: number = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;

/**
 * The fields that announce the end of reading a single animal: Deprecation (RFC 9745), Sunset (RFC 8594) and a Link to
 * what takes its place (RFC 5829).
 */
export function deprecationHeaders(basePath: string): { deprecation: string; sunset: string; link: string } {
  return {
    deprecation: `@${DEPRECATED_AT / 1000}`,
    sunset: new Date(REMOVED_AT).toUTCString(),
    link: `<${basePath}/pets>; rel="successor-version"`,
  };
}

/** `GET /pets/{petId}`: one animal, until the operation's removal; 410 from then on. */
export function getPet({ catalogue, petJson, clock, basePath }: OperationDependencies): Operation {
  const start = `${basePath}/pets/`.length;
  return (request) => {
    if (clock() >= REMOVED_AT) {
      throw new HttpError(
        'endpoint_removed',
        `this endpoint was removed: use GET ${basePath}/pets, which lists animals`,
      );
    }
    return andThen(catalogue.getPet(readPetId(request.req.path.slice(start))), (pet) => jsonResponse(petJson(pet)));
  };
}

function readPetId(text: string): bigint {
  const id = DECIMAL.test(text) ? BigInt(text) : null;
  if (id === null || id > PET_ID_MAX) {
    throw new DomainError('pet_not_found', `no animal has this id: ids are integers from 1 to ${PET_ID_MAX}`);
  }
  return id;
}
