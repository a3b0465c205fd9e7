import { LIMITS, type PetPage, type PetQuery } from '@animal-store/domain';
import { andThen, Violation } from '@animal-store/domain/transport';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import type { Operation } from '../http/operation.ts';
import { jsonHeaders, jsonResponse } from '../http/response.ts';
import { cursorAfter, readCursor } from './cursor.ts';
import type { PetDependencies } from './dependencies.ts';
import { createPageCache, isUpToDate } from './page-cache.ts';
import { createPetsJson } from './pet-json.ts';

/** A query whose members are converted as far as they can be; the catalogue rejects the rest. */
type GivenQuery = { readonly [member in keyof PetQuery]: unknown };

const DECIMAL = /^[1-9]\d*$/;

/** `GET /pets`: a page of pets, and a Link to the next page (RFC 8288) if there is one. */
export function listPets({ catalogue, basePath }: PetDependencies): Operation {
  const pages = createPageCache<GivenQuery>();
  const petsJson = createPetsJson();
  const render = ({ pets, next }: PetPage, query: GivenQuery) => {
    // A page that is not the last is full.
    const headers =
      next === null ? undefined : jsonHeaders({ link: linkToNext(basePath, pets.length, query.status, next) });
    return jsonResponse(petsJson(pets), 200, headers);
  };
  return {
    method: 'get',
    path: '/pets',
    handle(request) {
      const { url } = request.req;
      const start = url.indexOf('?');
      const text = start === -1 ? '' : url.slice(start + 1);
      const cached = pages.get(text);
      const query = cached?.query ?? readPetQuery(text);
      return andThen(catalogue.listPets(query), (page) => {
        if (cached !== undefined && isUpToDate(cached, page)) return cached.response;
        const response = render(page, query);
        // Only frozen pets are the same objects as long as they are unchanged: see `PetStore`.
        if (page.pets.every(Object.isFrozen)) pages.set(text, { ...page, query, response });
        return response;
      });
    },
  };
}

function linkToNext(basePath: string, limit: number, status: unknown, next: bigint): string {
  const filter = status === undefined ? '' : `&status=${status}`;
  return `<${basePath}/pets?limit=${limit}${filter}&cursor=${cursorAfter(next)}>; rel="next"`;
}

/** The page that a query string asks for. Parameters that the interface does not know are ignored. */
function readPetQuery(text: string): GivenQuery {
  // It drops a question mark at the beginning: the first one is not part of the text.
  const parameters = new URLSearchParams(`?${text}`);
  /** The value of a parameter, undefined if it is absent. */
  const read = (name: string, convert: (given: string) => unknown) => {
    const [given, ...more] = parameters.getAll(name);
    if (given === undefined) return undefined;
    return more.length === 0 ? convert(given) : new Violation(CLIENT_MESSAGES.notOnce(name, more.length + 1));
  };
  return {
    // An integer out of range stays text, so that the error quotes it as it was given.
    limit: read('limit', (given) => (DECIMAL.test(given) && Number(given) <= LIMITS.page.max ? Number(given) : given)),
    status: read('status', (given) => given),
    after: read('cursor', (given) => readCursor(given) ?? new Violation(CLIENT_MESSAGES.badCursor)),
  };
}
