import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, type Awaitable, andThen, visiblePrefixOf } from '@animal-store/domain/transport';
import { headerValues } from '@animal-store/http-server';
import type { Context } from 'hono';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
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
const OVERLOADED = HttpError.unavailable('overload', CLIENT_MESSAGES.overloaded);
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** Wraps an operation: load shedding, authentication, rate limit, deadline, in this order. */
export type Guard = (handle: Operation['handle']) => Responder;

export function createGuard({ authenticate, rateLimit, shouldShed }: GuardDependencies): Guard {
  return (handle) => {
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
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, {
    'www-authenticate': `Bearer realm="animal-store"${errorCode}`,
  });
}
