import { readCredentials } from '@animal-store/app-kit';
import { withTimeout } from '@animal-store/async';
import { unavailable } from '@animal-store/domain/ports';
import { type Authenticate, type Awaitable, andThen, visiblePrefixOf } from '@animal-store/domain/transport';
import { headerValues, type IncomingRequest } from '@animal-store/http-server';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import type { Exchange, Responder } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';
import type { HttpResponse } from '../http/response.ts';
import type { RateLimit } from './rate-limit.ts';

export interface GuardDependencies {
  readonly authenticate: Authenticate;
  /** null: no holder has a limit. */
  readonly rateLimit: RateLimit | null;
  readonly shouldShed: () => boolean;
}

// These errors are made once, because taking the stack costs more than the rest of a rejection.
const OVERLOADED = HttpError.unavailable('overload', CLIENT_MESSAGES.overloaded);
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** Wraps an operation: authentication, load shedding, rate limit, deadline, in this order. */
export type Guard = (handle: Operation['handle']) => Responder;

export function createGuard({ authenticate, rateLimit, shouldShed }: GuardDependencies): Guard {
  return (handle) => (request, exchange) => {
    const { incoming } = request.env;
    const credentials = readCredentials(headerValues(incoming.rawHeaders, 'authorization'));
    if (credentials.kind !== 'key') throw credentials.kind === 'none' ? MISSING_KEY : INVALID_KEY;
    // Load is shed before the storage is asked for the key.
    if (shouldShed()) throw OVERLOADED;
    return andThen(authenticate(credentials.key), (key) => {
      if (key === null) {
        exchange.rejectedKey = visiblePrefixOf(credentials.key);
        throw INVALID_KEY;
      }
      exchange.key = key;
      const run = () => withinDeadline(exchange, incoming, () => handle(request, key.holder));
      if (rateLimit === null) return run();
      return andThen(rateLimit(key.holder), ({ headers, rejection }) => {
        exchange.headers = { ...exchange.headers, ...headers };
        if (rejection !== null) throw rejection;
        return run();
      });
    });
  };
}

/** How long a request may wait for the storage, in milliseconds: five seconds, less the time to render the response. */
const STORAGE_TIME = 4_500;

/** A storage call has a time limit of its own, in milliseconds. It holds for the request if no more than this was spent before. */
const NEGLIGIBLE = 250;

const LATE = unavailable();

/** Runs an operation within the time that authentication and rate limiting have left of the request. */
function withinDeadline(
  { startedAt }: Exchange,
  incoming: IncomingRequest,
  operation: () => Awaitable<HttpResponse>,
): Awaitable<HttpResponse> {
  const spent = performance.now() - startedAt;
  if (spent < NEGLIGIBLE) return operation();
  const work = operation();
  const limited = () => withTimeout(work, STORAGE_TIME - spent, LATE);
  // The time in which the client sends a body that the operation reads is not the storage's.
  if (!incoming.isBeingRead) return limited();
  const arrived = new Promise((resolve) => incoming.once('close', resolve));
  return Promise.race([work, arrived.then(limited)]);
}

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, {
    'www-authenticate': `Bearer realm="animal-store"${errorCode}`,
  });
}
