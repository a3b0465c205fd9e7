import {
  andThen,
  invalidRequest,
  isPageLimit,
  isPetStatus,
  limitFault,
  PAGE_LIMIT_DEFAULT,
  type PetQuery,
  statusFault,
} from '@animal-store/domain';
import { jsonAnswer, jsonHeaders } from './answer.ts';
import { cursorAfter, readCursor } from './cursor.ts';
import type { Operation, OperationDependencies } from './operation.ts';
import { petsJson } from './pet-json.ts';
import { parameterValues } from './query-parameters.ts';
import { queryString } from './request-path.ts';

const DECIMAL = /^[1-9]\d*$/;

/** `GET /pets`: a page of animals, and a Link to the next (RFC 8288) where there is one. */
export function listPets({ catalogue, petJson, basePath }: OperationDependencies): Operation {
  return (request) => {
    const query = readPetQuery(queryString(request.req));
    return andThen(catalogue.listPets(query), ({ pets, next }) =>
      jsonAnswer(
        petsJson(pets, petJson),
        200,
        next === null ? undefined : jsonHeaders({ link: linkToNext(basePath, query, next) }),
      ),
    );
  };
}

function linkToNext(basePath: string, { limit = PAGE_LIMIT_DEFAULT, status }: PetQuery, next: bigint): string {
  const filter = status === undefined ? '' : `&status=${status}`;
  return `<${basePath}/pets?limit=${limit}${filter}&cursor=${cursorAfter(next)}>; rel="next"`;
}

/**
 * The page that a query string asks for. Parameters that the interface does not know are ignored.
 *
 * @throws DomainError `invalid_request`, naming all faults; a parameter that is empty or repeated is one.
 */
function readPetQuery(text: string): PetQuery {
  if (text === '') return {};
  const faults: string[] = [];

  /** A parameter's value, undefined where it is absent or has a fault. */
  function read<T>(name: string, parse: (given: string) => T | null, fault: (given: string) => string): T | undefined {
    const [given, ...more] = parameterValues(text, name);
    if (given === undefined) return undefined;
    const value = more.length === 0 ? parse(given) : null;
    if (value !== null) return value;
    faults.push(more.length === 0 ? fault(given) : `${name} must be given once, was given ${more.length + 1} times`);
    return undefined;
  }

  const query = {
    limit: read(
      'limit',
      (given) => (DECIMAL.test(given) && isPageLimit(Number(given)) ? Number(given) : null),
      limitFault,
    ),
    status: read(
      'status',
      (given) => (isPetStatus(given) ? given : null),
      (given) => statusFault(given) as string,
    ),
    after: read('cursor', readCursor, () => 'cursor must be one that a Link header of this service gave'),
  };
  if (faults.length > 0) throw invalidRequest(faults);
  return query;
}
