import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, type Awaitable, andThen, visiblePrefixOf } from '@animal-store/domain/transport';
import { headerValues } from '@animal-store/http-server';
import type { Context } from 'hono';
import { withinDeadline } from '../http/deadline.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Responder } from '../http/handler.ts';
import { HttpError } from '../http/http-error.ts';
import type { Env, Operation } from '../http/operation.ts';
import type { HttpResponse } from '../http/response.ts';
import { countRequest, type RateLimit } from './rate-limit.ts';

/** What the guard checks requests with. */
export interface GuardDependencies {
  readonly authenticate: Authenticate;
  /** null: no holder has a limit. */
  readonly rateLimit: RateLimit | null;
  /** Whether to shed the next operation. */
  readonly shouldShed: () => boolean;
}

// Made once: taking the stack costs more than the rest of a rejection, and a service under attack or overload rejects most.
const OVERLOADED = HttpError.unavailable('overload', 'the service is overloaded; retry after the time in Retry-After');
const MISSING_KEY = unauthorized('missing', '');
const INVALID_KEY = unauthorized('invalid', ', error="invalid_token"');

/** @returns Makes a responder that runs an operation for requests with a valid key, within its quota, unless load is being shed. */
export function createGuard({ authenticate, rateLimit, shouldShed }: GuardDependencies) {
  return (handle: Operation['handle']): Responder => {
    const run = (request: Context<Env>, exchange: Exchange, holder: string): Awaitable<HttpResponse> =>
      withinDeadline(exchange, request.env.incoming, () => handle(request, holder));

    return (request, exchange) => {
      const credentials = readCredentials(headerValues(request.env.incoming.rawHeaders, 'authorization'));
      if (credentials.kind !== 'key') throw credentials.kind === 'none' ? MISSING_KEY : INVALID_KEY;
      // Before the storage is asked for the key.
      if (shouldShed()) throw OVERLOADED;
      return andThen(authenticate(credentials.key), (key) => {
        if (key === null) {
          exchange.rejectedKey = visiblePrefixOf(credentials.key);
          throw INVALID_KEY;
        }
        exchange.key = key;
        const { holder } = key;
        if (rateLimit === null) return run(request, exchange, holder);
        return andThen(countRequest(rateLimit, holder), ({ headers, rejection }) => {
          exchange.headers = { ...exchange.headers, ...headers };
          if (rejection !== null) throw rejection;
          return run(request, exchange, holder);
        });
      });
    };
  };
}

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(key: 'missing' | 'invalid', errorCode: string): HttpError {
  return new HttpError('unauthorized', `${key} API key: send a valid one as Authorization: Bearer <API_KEY>`, {
    'www-authenticate': `Bearer realm="animal-store"${errorCode}`,
  });
}
