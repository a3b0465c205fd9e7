import { type Authenticate, type Awaitable, andThen, type Storage } from '@animal-store/domain';
import { type Context, Hono } from 'hono';
import { createPet } from './create-pet.ts';
import { fieldValues, readCredentials } from './credentials.ts';
import { deprecationHeaders, getPet } from './get-pet.ts';
import { type ErrorCode, errorResponse, type Headers, HttpError, isFault } from './http-error.ts';
import { jsonResponse } from './json-response.ts';
import { listPets } from './list-pets.ts';
import { openApiDocument } from './openapi.ts';
import type { Env, Operation, OperationDependencies } from './operation.ts';
import { requestPath } from './request-path.ts';

/** What the application works with. */
export interface AppDependencies extends OperationDependencies {
  readonly authenticate: Authenticate;
  readonly storage: Pick<Storage, 'ready'>;
  /** Told of every error that is a fault of the service. */
  readonly onFault: (error: unknown) => void;
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** With at most one parameter, as its last segment. */
  readonly path: string;
  readonly answer: (request: Context<Env>) => Awaitable<Response>;
}

/**
 * The whole HTTP interface. Each route has one handler, which itself does all there is to do: a second handler or a
 * middleware would make Hono compose them with promises, at half the speed.
 */
export function createApp(dependencies: AppDependencies): Hono<Env> {
  const { authenticate, basePath, storage, onFault } = dependencies;

  /** What `answer` answers, or the Error body for what it throws. */
  function guarded(answer: Route['answer'], headers?: Headers): Route['answer'] {
    const failed = (error: unknown) => {
      if (isFault(error)) onFault(error);
      return errorResponse(error, headers);
    };
    return (request) => {
      try {
        const response = answer(request);
        return response instanceof Promise ? response.catch(failed) : response;
      } catch (error) {
        return failed(error);
      }
    };
  }

  /** Calls an operation for those who hold a valid key. */
  function authenticated(operation: Operation): Route['answer'] {
    return (request) => {
      const credentials = readCredentials(fieldValues(request.env.incoming.rawHeaders, 'authorization'));
      if (credentials.kind !== 'key') throw unauthorized(credentials.kind === 'none' ? 'missing' : 'invalid');
      return andThen(authenticate(credentials.key), (holder) => {
        if (holder === null) throw unauthorized('invalid');
        return operation(request, holder);
      });
    };
  }

  const operation = (method: Route['method'], path: string, run: Operation, headers?: Headers): Route => ({
    method,
    path: basePath + path,
    answer: guarded(authenticated(run), headers),
  });
  const open = (path: string, answer: Route['answer']): Route => ({ method: 'GET', path, answer: guarded(answer) });

  const ready: Route['answer'] = () => andThen(storage.ready(), () => jsonResponse('{"status":"ready"}'));
  const document = openApiDocument(basePath);
  const routes: Route[] = [
    operation('GET', '/pets', listPets(dependencies)),
    operation('POST', '/pets', createPet(dependencies)),
    operation('GET', '/pets/:petId', getPet(dependencies), deprecationHeaders(basePath)),
    open('/livez', () => jsonResponse('{"status":"live"}')),
    open('/readyz', ready),
    open('/healthz', ready),
    open('/openapi.json', () => jsonResponse(document)),
  ];

  const methodsOf = allowedMethods(routes);
  const refuse = (request: Context<Env>): never => {
    const methods = methodsOf(request.req.path);
    if (methods === null) throw new HttpError('not_found', 'there is nothing at this path');
    throw new HttpError('method_not_allowed', `this path takes ${methods} only`, { allow: methods });
  };
  const refuseAnyone = guarded(refuse);
  const refuseHolder = guarded(authenticated(refuse));
  const protectedPrefix = `${basePath}/`;

  const app = new Hono<Env>({ getPath: requestPath });
  for (const { method, path, answer } of routes) app.on(method, path, answer);
  app.notFound((request) => {
    const { path } = request.req;
    return path.startsWith(protectedPrefix) || path === basePath ? refuseHolder(request) : refuseAnyone(request);
  });
  return app;
}

/** RFC 6750, section 3: an error code only where a key was sent. */
function unauthorized(key: 'missing' | 'invalid'): HttpError {
  const code: ErrorCode = 'unauthorized';
  const challenge = 'Bearer realm="animal-store"';
  return new HttpError(code, `${key} API key: send a valid one as Authorization: Bearer <API_KEY>`, {
    'www-authenticate': key === 'missing' ? challenge : `${challenge}, error="invalid_token"`,
  });
}

/** The value of the Allow field (RFC 9110, section 10.2.1) for each path that has a route, null for others. */
function allowedMethods(routes: readonly Route[]): (path: string) => string | null {
  const allowed = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = allowed.get(path) ?? [];
    methods.push(...(method === 'GET' ? ['GET', 'HEAD'] : [method]));
    allowed.set(path, methods);
  }
  return (path) => {
    const exact = allowed.get(path) ?? allowed.get(path.replace(/[^/]+$/, ':petId'));
    return exact?.join(', ') ?? null;
  };
}
