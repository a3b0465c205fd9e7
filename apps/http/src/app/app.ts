import type { Catalogue, Clock } from '@animal-store/domain';
import type { Authenticate } from '@animal-store/domain/transport';
import { Hono, type NotFoundHandler } from 'hono';
import { except } from 'hono/combine';
import { requireKey } from './auth.ts';
import { allowOrigins } from './cors.ts';
import { docs } from './docs.ts';
import type { Env, Middleware } from './env.ts';
import { HttpError, JSON_TYPE, type Reply } from './errors.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { mcp } from './mcp.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import { createPet } from './pets/create-pet.ts';
import { getPet } from './pets/get-pet.ts';
import { listPets } from './pets/list-pets.ts';
import { addHeaders } from './pets/operation.ts';
import { createRateLimit, limitRate } from './rate-limit.ts';
import { respond, respondToError } from './respond.ts';

export interface AppOptions {
  readonly catalogue: Catalogue;
  readonly authenticate: Authenticate;
  /**
   * Of the program, for MCP.
   *
   * @default '1.0.0'
   */
  readonly version?: string;
  /**
   * Where the paths of the operations begin, without a trailing slash.
   *
   * @default '/v1'
   */
  readonly basePath?: string;
  /**
   * Milliseconds since the epoch; it decides when the deprecated operation ends.
   *
   * @default Date.now
   */
  readonly clock?: Clock;
  /**
   * Origins whose scripts get access; `*` for all.
   *
   * @default new Set()
   */
  readonly corsOrigins?: ReadonlySet<string>;
  /**
   * How many requests a holder may make in a minute; 0: any number.
   *
   * @default 0
   */
  readonly rateLimit?: number;
  /**
   * Records requests.
   *
   * @default createExchange()
   */
  readonly exchange?: Exchange;
  /**
   * Resolves if the service is ready.
   *
   * @throws HttpError, DomainError
   * @default async () => {}
   */
  readonly checkReadiness?: () => Promise<void>;
  /** What `/metrics` responds with. Without it there is no such path. */
  readonly metrics?: { readonly contentType: string; read(): Promise<string> };
  /**
   * As that of Hono's `createFactory`: registers middleware before the routes, by `app.use`. That of the service is given in
   * `composition.ts`. Middleware reads bodies by methods of `c.req`, not of `c.req.raw`, whose body is gone then. No key is
   * checked before it, so own routes are better added to the application that `createApp` returns.
   */
  readonly initApp?: ((app: Hono<Env>) => void) | undefined;
}

/** In the order in which their routes match. */
const OPERATIONS = [listPets, createPet, getPet] as const;

const json = (body: string): Reply => ({ status: 200, headers: JSON_TYPE, body });

/**
 * The service as a Hono application, for any runtime. A program adds routes to it as to any other; below the base path they
 * need a key. Hono runs middleware for the routes that are registered after it, so that for all requests comes with `initApp`.
 * A program in TypeScript runs with the sources: `node_modules/.bin/node --conditions=@animal-store/source own.ts`.
 *
 * @example
 * const app = createApp({
 *   catalogue,
 *   authenticate,
 *   initApp: (app) => app.use(timing()), // for every operation, error, 401 and 404
 * });
 * app.get('/hello', (c) => c.text('Hello')); // with a record, a request id and header fields
 * await app.request('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
 */
export function createApp({
  catalogue,
  authenticate,
  version = '1.0.0',
  basePath = '/v1',
  clock = Date.now,
  corsOrigins = new Set(),
  rateLimit = 0,
  exchange = createExchange(),
  checkReadiness = async () => {},
  metrics,
  initApp,
}: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  const operations = OPERATIONS.map((operation) => operation({ catalogue, clock, basePath }));
  const routeOf = (path: string) => basePath + path.replace(/\{(\w+)\}/, ':$1');

  app.use(exchange.middleware);
  // Scripts of other origins do not need the documentation page, whose responses vary by their coding only.
  if (corsOrigins.size > 0) app.use(except('/docs/*', allowOrigins(corsOrigins)));
  initApp?.(app);

  const admission: [Middleware, ...Middleware[]] = [exchange.shedLoad, requireKey(authenticate)];
  if (rateLimit > 0) admission.push(limitRate(createRateLimit(rateLimit)));
  for (const { method, path, headers, handle } of operations) {
    // Before the key is checked: rejections have these fields, too.
    if (headers !== undefined) app[method](routeOf(path), addHeaders(headers));
    app[method](routeOf(path), ...admission, handle);
  }
  for (const path of [`${basePath}/*`, '/mcp']) app.use(path, ...admission);
  app.post('/mcp', mcp({ catalogue, corsOrigins, version }));

  app.get('/livez', (c) => respond(c, json('{"status":"live"}')));
  app.on('GET', ['/readyz', '/healthz'], async (c) => {
    await checkReadiness();
    return respond(c, json('{"status":"ready"}'));
  });
  if (metrics !== undefined) {
    const headers = { 'content-type': metrics.contentType };
    app.get('/metrics', async (c) => respond(c, { status: 200, headers, body: await metrics.read() }));
  }

  let document: string | undefined;
  app.get('/openapi.json', async (c) => {
    // Loaded on use: TypeBox takes a third of the time of a start.
    const { openApiDocument } = await import('./openapi/document.ts');
    document ??= openApiDocument(operations, basePath);
    return respond(c, json(document));
  });
  app.route('/', docs());

  app.notFound(rejectUnrouted(app, [...new Set(operations.map(({ path }) => basePath + path))]));
  app.onError(respondToError);
  return app;
}

/**
 * Responds with 405 if routes serve the path with other methods only, otherwise with 404.
 *
 * @param paths For the message.
 */
function rejectUnrouted(app: Hono<Env>, paths: readonly string[]): NotFoundHandler<Env> {
  return (c) => {
    const methods = new Set(app.routes.map(({ method }) => method));
    // The method of middleware.
    methods.delete('ALL');
    const allowed = [...methods].filter((method) =>
      app.router.match(method, c.req.path)[0].some(([[, route]]) => route.method === method),
    );
    const sent = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    if (allowed.length === 0 || allowed.includes(sent))
      return respondToError(new HttpError('not_found', CLIENT_MESSAGES.noPath(paths)), c);
    const allow = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)).join(', ');
    return respondToError(new HttpError('method_not_allowed', CLIENT_MESSAGES.allowedMethods(allow), { allow }), c);
  };
}
