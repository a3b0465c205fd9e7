import { type Authenticate, type Awaitable, andThen, DomainError, isPromise, type Storage } from '@animal-store/domain';
import { type Context, Hono } from 'hono';
import type { Cors } from './access/cors.ts';
import { readCredentials } from './access/credentials.ts';
import { countRequest, type RateLimit } from './access/rate-limit.ts';
import {
  beginExchange,
  type Exchange,
  type Observer,
  type OnUnexpectedError,
  type Unavailable,
} from './http/exchange.ts';
import { headerValues } from './http/header-values.ts';
import { errorResponse, HttpError, isUnexpected } from './http/http-error.ts';
import type { Env, Operation, OperationDependencies } from './http/operation.ts';
import { requestPath } from './http/request-path.ts';
import { respond, SECURITY_HEADERS } from './http/respond.ts';
import { type Headers, type HttpResponse, jsonResponse } from './http/response.ts';
import { singleFlight } from './http/single-flight.ts';
import { withTimeout } from './http/timeout.ts';
import type { DocsFile } from './openapi/docs-page.ts';
import { openApiDocument } from './openapi/document.ts';
import { createPet } from './pets/create-pet.ts';
import { deprecationHeaders, getPet } from './pets/get-pet.ts';
import { listPets } from './pets/list-pets.ts';
import { isLatest, takeNoMore } from './server/connection.ts';
import { isBodyUnderWay, overtakeBody } from './server/unread-body.ts';

/** What the application works with. */
export interface AppDependencies extends OperationDependencies {
  readonly authenticate: Authenticate;
  readonly storage: Pick<Storage, 'ready'>;
  /** null: no script of another origin is let in. */
  readonly cors: Cors | null;
  /** null: no holder has a limit. */
  readonly rateLimit: RateLimit | null;
  readonly observers: readonly Observer[];
  readonly onUnexpectedError: OnUnexpectedError;
  /** The service's metrics in Prometheus' text format; null where they are not to be had. */
  readonly metrics: (() => Awaitable<HttpResponse>) | null;
  /** The documentation page; empty where it is not to be had. */
  readonly docs: readonly DocsFile[];
  /** Whether the service is about to stop: it is not ready any more. */
  readonly isStopping: () => boolean;
  /** Whether to refuse the operation that comes now, because there is too much to do. */
  readonly shouldShed: () => boolean;
}

type Method = 'GET' | 'POST';

/** Answers a request, or throws what is to be answered as an error. */
type Responder = (request: Context<Env>, exchange: Exchange) => Awaitable<HttpResponse>;

interface Route {
  readonly method: Method;
  /** With at most one parameter, as its last segment. */
  readonly path: string;
  readonly answer: Responder;
  /** Fields that come with whatever is answered. */
  readonly headers: Headers;
}

const NO_HEADERS: Headers = Object.freeze({});

/** How long a request may wait for the storage, in milliseconds: five seconds, and some time to say so. */
const STORAGE_TIME = 4_500;

/** What may be spent before an operation begins, in milliseconds, so that a call's own limit keeps it in time. */
const PROMPT = 250;

/** What the log and the metrics call the route of requests that match none. */
const UNMATCHED = 'unmatched';

/**
 * The whole HTTP interface. Each route has one handler, which itself does all there is to do: a second handler or a
 * middleware would make Hono compose them with promises, at half the speed.
 */
export function createApp(dependencies: AppDependencies): Hono<Env> {
  const {
    authenticate,
    basePath,
    cors,
    docs,
    shouldShed,
    isStopping,
    metrics,
    onUnexpectedError,
    rateLimit,
    storage,
    observers,
  } = dependencies;

  /** The handler of a route: what is answered, or the Error body for what was thrown, as a response. */
  function handler(path: string, answer: Responder, headers = NO_HEADERS) {
    const own = { ...SECURITY_HEADERS, ...headers };
    return (request: Context<Env>): Awaitable<Response> => {
      const { incoming, outgoing } = request.env;
      const accompanying = cors === null ? own : { ...own, ...cors.headers(incoming.headers.origin) };
      const exchange = beginExchange(incoming.headers, incoming.method as string, path, accompanying);
      incoming.exchange = exchange;
      for (const observer of observers) observer.begin?.();
      const succeed = (given: HttpResponse) => {
        // Those that were under way when the stop began have a connection to close, too.
        if (isStopping() && isLatest(incoming)) {
          takeNoMore(incoming);
          exchange.headers = { ...exchange.headers, connection: 'close' };
        }
        if (isBodyUnderWay(incoming)) exchange.headers = { ...exchange.headers, ...overtakeBody(incoming, outgoing) };
        return respond(exchange, given, observers);
      };
      const fail = (error: unknown) => {
        if (isUnexpected(error)) onUnexpectedError(error, exchange.id);
        exchange.unavailable = unavailable(error);
        return succeed(errorResponse(error));
      };
      try {
        const given = answer(request, exchange);
        return isPromise(given) ? given.then(succeed, fail) : succeed(given);
      } catch (error) {
        return fail(error);
      }
    };
  }

  /** Calls an operation for those who hold a valid key, while there is time for it. */
  function authenticated(operation: Operation): Responder {
    return (request, exchange) => {
      const credentials = readCredentials(headerValues(request.env.incoming.rawHeaders, 'authorization'));
      if (credentials.kind !== 'key') throw credentials.kind === 'none' ? NO_KEY : INVALID_KEY;
      // Before the storage is asked for the key.
      if (shouldShed()) throw OVERLOADED;
      return andThen(authenticate(credentials.key), (holder) => {
        if (holder === null) throw INVALID_KEY;
        exchange.holder = holder;
        if (rateLimit === null) return carryOut(operation, request, exchange, holder);
        return andThen(countRequest(rateLimit, holder), (counted) => {
          exchange.headers = { ...exchange.headers, ...counted.headers };
          if (counted.refusal !== null) throw counted.refusal;
          return carryOut(operation, request, exchange, holder);
        });
      });
    };
  }

  const operation = (method: Method, path: string, run: Operation, headers = NO_HEADERS): Route => ({
    method,
    path: basePath + path,
    answer: authenticated(run),
    headers,
  });
  const open = (path: string, answer: Responder): Route => ({ method: 'GET', path, answer, headers: NO_HEADERS });

  const checkStorage = singleFlight(() => storage.ready());
  const ready: Responder = () => {
    if (isStopping()) throw STOPPING;
    return andThen(checkStorage(), () => jsonResponse('{"status":"ready"}'));
  };
  const document = openApiDocument(basePath);
  const routes: Route[] = [
    operation('GET', '/pets', listPets(dependencies)),
    operation('POST', '/pets', createPet(dependencies)),
    operation('GET', '/pets/:petId', getPet(dependencies), deprecationHeaders(basePath)),
    open('/livez', () => jsonResponse('{"status":"live"}')),
    open('/readyz', ready),
    open('/healthz', ready),
    open('/openapi.json', () => jsonResponse(document)),
    ...(metrics === null ? [] : [open('/metrics', metrics)]),
    ...docs.map(({ path, answer }) => open(path, answer)),
  ];

  const methodsOf = allowedMethods(routes);
  const refuse = (request: Context<Env>): never => {
    const { refusal } = request.env.incoming;
    if (refusal !== undefined) throw refusal;
    const methods = methodsOf(request.req.path);
    if (methods === null) {
      const paths = `${basePath}/pets and ${basePath}/pets/{petId}`;
      throw new HttpError(
        'not_found',
        `there is nothing at this path (a slash at the end makes another); the operations are at ${paths}`,
      );
    }
    throw new HttpError('method_not_allowed', `this path takes ${methods} only`, { allow: methods });
  };
  const refuseAnyone = handler(UNMATCHED, refuse);
  const refuseHolder = handler(UNMATCHED, authenticated(refuse));
  const protectedPrefix = `${basePath}/`;

  const app = new Hono<Env>({ getPath: requestPath });
  for (const { method, path, answer, headers } of routes) app.on(method, path, handler(path, answer, headers));
  app.notFound((request) => {
    const { incoming } = request.env;
    // Browsers send no credentials with it.
    const preflight = cors?.preflight(incoming.method, incoming.headers);
    if (preflight) return handler(UNMATCHED, () => preflight)(request);
    const { path } = request.req;
    return path.startsWith(protectedPrefix) || path === basePath ? refuseHolder(request) : refuseAnyone(request);
  });
  return app;
}

// Made once: an error takes its stack from where it is made, which costs more than all the rest of a refusal, and these are
// what a service under attack or under too much load answers.
const OVERLOADED = new DomainError('service_unavailable', 'the service has too much to do: try again');
const STOPPING = new DomainError('service_unavailable', 'the service is about to stop');
const NO_KEY = unauthorized('missing', '');
const INVALID_KEY = unauthorized('invalid', ', error="invalid_token"');

const LATE = new DomainError('service_unavailable', 'the storage takes too long: try again');

function unavailable(error: unknown): Unavailable | null {
  if (!(error instanceof DomainError && error.code === 'service_unavailable')) return null;
  const reason = error === OVERLOADED ? 'overload' : error === STOPPING ? 'stopping' : 'storage';
  return { reason, error };
}

/** An operation has the time that those left who looked up its key and counted it. */
function carryOut(
  operation: Operation,
  request: Context<Env>,
  { startedAt }: Exchange,
  holder: string,
): Awaitable<HttpResponse> {
  const spent = performance.now() - startedAt;
  if (spent < PROMPT) return operation(request, holder);
  const { incoming } = request.env;
  const work = operation(request, holder);
  const inTheRest = () => withTimeout(work, STORAGE_TIME - spent, LATE);
  if (!isBodyUnderWay(incoming)) return inTheRest();
  // How long the client takes for the body is no time that the storage takes.
  const arrived = new Promise((resolve) => incoming.once('close', resolve));
  return Promise.race([work, arrived.then(inTheRest)]);
}

/** RFC 6750, section 3: an error code only where a key was sent. */
function unauthorized(key: 'missing' | 'invalid', errorCode: string): HttpError {
  return new HttpError('unauthorized', `${key} API key: send a valid one as Authorization: Bearer <API_KEY>`, {
    'www-authenticate': `Bearer realm="animal-store"${errorCode}`,
  });
}

/** Stands for a last segment that is a parameter. No path has it: it is no character of a URL. */
const ANY = '<any>';

/** The value of the Allow field (RFC 9110, section 10.2.1) for each path that has a route, null for others. */
function allowedMethods(routes: readonly Route[]): (path: string) => string | null {
  const allowed = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const pattern = path.replace(/:\w+$/, ANY);
    const methods = allowed.get(pattern) ?? [];
    methods.push(...(method === 'GET' ? ['GET', 'HEAD'] : [method]));
    allowed.set(pattern, methods);
  }
  return (path) => {
    // Not by /[^/]+$/: it looks again from each character, in time that grows with the square of their number.
    const lastSegment = path.lastIndexOf('/') + 1;
    const methods = allowed.get(path) ?? (lastSegment < path.length && allowed.get(path.slice(0, lastSegment) + ANY));
    return methods ? methods.join(', ') : null;
  };
}
