import { DomainError, LIMITS, type PetQuery } from '@animal-store/domain';
import { invalidRequest, JSON_TYPE } from '../errors.ts';
import { toJson } from '../json.ts';
import { CLIENT_MESSAGES } from '../messages.ts';
import { EXAMPLE_PET, jsonContent, optionalHeader, parameter, ref } from '../openapi/responses.ts';
import { CURSOR_PATTERN, cursorAfter, readCursor } from './cursor.ts';
import type { Operation, OperationDependencies } from './operation.ts';

const DECIMAL = /^[1-9]\d*$/;
const { min, max, default: fallback } = LIMITS.page;
const LIMIT = { type: 'integer', minimum: min, maximum: max, default: fallback };
/** The values of each parameter of a query. */
type Parameters = Readonly<Record<string, readonly string[]>>;

const STATUS = ref('schemas', 'PetStatus');

/** The parameters of a query: a filter that is missing is a compile error. */
const PARAMETERS: Readonly<Record<Exclude<keyof PetQuery, 'after'> | 'cursor', object>> = {
  limit: parameter('query', 'limit', 'Maximum number of animals returned.', LIMIT),
  status: parameter('query', 'status', 'Returns only animals with this availability status.', STATUS),
  cursor: parameter(
    'query',
    'cursor',
    'Where the page begins. Opaque: clients take it from a Link header field and never make one.',
    { type: 'string', pattern: CURSOR_PATTERN.source },
  ),
};

/** `GET /pets`: a page of pets, and a Link to the next page (RFC 8288) if there is one. */
export function listPets({ catalogue, basePath }: OperationDependencies): Operation {
  const linkToNext = (limit: number, { limit: _, after: __, ...filters }: PetQuery, next: bigint) => {
    const filter = Object.entries(filters).map(([name, value]) => (value === undefined ? '' : `&${name}=${value}`));
    return `<${basePath}/pets?limit=${limit}${filter.join('')}&cursor=${cursorAfter(next)}>; rel="next"`;
  };
  return {
    method: 'get',
    path: '/pets',
    async handle({ req }) {
      const parameters = req.queries();
      const query = readQuery(parameters);
      const { pets, next } = await catalogue.listPets(query).catch((error) => {
        throw inParameters(error, parameters);
      });
      // A page that is not the last is full.
      const headers = next === null ? JSON_TYPE : { ...JSON_TYPE, link: linkToNext(pets.length, query, next) };
      return { status: 200, headers, body: JSON.stringify(pets.map(toJson)) };
    },
    description: {
      operationId: 'listPets',
      summary: 'List all animals',
      description:
        'Returns a page of animals in ascending order of id. If there are more, the Link header field has the URL of the next page: ' +
        'resolve it against the URL of the request. Following it to its end yields every animal that existed at the start exactly once. ' +
        'Other parameters are ignored.',
      parameters: Object.values(PARAMETERS),
      responses: {
        200: {
          description: 'A page of animals.',
          headers: {
            Link: optionalHeader(
              'Present if there are more animals: the URL of the next page (RFC 8288, `rel="next"`).',
              `<${basePath}/pets?limit=20&cursor=AQAAAAAAAAAU>; rel="next"`,
            ),
          },
          content: jsonContent('Pets', [EXAMPLE_PET]),
        },
        400: ref('responses', 'BadRequest'),
      },
    },
  };
}

/**
 * The query of a request. Parameters that the interface does not know are ignored. What can't be read stays as it is: the
 * catalogue rejects it, and names every violation.
 */
function readQuery(parameters: Parameters): PetQuery {
  const read = (name: string) => (parameters[name]?.length === 1 ? parameters[name][0] : parameters[name]);
  const [limit, status, cursor] = [read('limit'), read('status'), read('cursor')];
  const isInRange = typeof limit === 'string' && DECIMAL.test(limit) && Number(limit) <= max;
  const after = typeof cursor === 'string' ? readCursor(cursor) : cursor;
  const query: Record<keyof PetQuery, unknown> = { limit: isInRange ? Number(limit) : limit, status, after };
  return query as PetQuery;
}

/** The error of a query, in terms of the parameters. */
function inParameters(error: unknown, parameters: Parameters): unknown {
  if (!DomainError.is(error) || error.code !== 'invalid') return error;
  const messages = error.violations.map(({ field, message }) => {
    const name = field === 'after' ? 'cursor' : field;
    const count = parameters[name]?.length ?? 0;
    if (count > 1) return CLIENT_MESSAGES.notOnce(name, count);
    return name === 'cursor' ? CLIENT_MESSAGES.badCursor : message;
  });
  return invalidRequest(messages.join('; '));
}
