import type { Catalogue, Clock } from '@animal-store/domain';
import type { Authenticate } from '@animal-store/domain/transport';
import { Hono } from 'hono';
import { except } from 'hono/combine';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requireKey } from './auth.ts';
import { allowOrigins } from './cors.ts';
import { docs } from './docs.ts';
import type { Env } from './env.ts';
import { HttpError, JSON_TYPE, type Reply } from './errors.ts';
import { createRecorder, type Exchange, type Recorder } from './exchange.ts';
import { shedLoad } from './load-shedding.ts';
import { mcp } from './mcp.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import { createPet } from './pets/create-pet.ts';
import { getPet } from './pets/get-pet.ts';
import { listPets } from './pets/list-pets.ts';
import { createRateLimit, limitRate } from './rate-limit.ts';
import { respondToError } from './respond.ts';
import { type Guard, type Route, serve } from './route.ts';

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
   * @default createRecorder()
   */
  readonly recorder?: Recorder;
  /**
   * Resolves if the service is ready.
   *
   * @throws HttpError, DomainError
   * @default async () => {}
   */
  readonly checkReadiness?: () => Promise<void>;
  /** What `/metrics` responds with. Without it there is no such path. */
  readonly metrics?: { readonly contentType: string; read(): Promise<string> };
}

/** In the order in which their routes match. */
const OPERATIONS = [listPets, createPet, getPet] as const;

const json = (body: string): Reply => ({ status: 200, headers: JSON_TYPE, body });

/**
 * The service as a Hono application, from top to bottom in the order in which middleware and routes run.
 *
 * @example
 * const app = createApp({ catalogue, authenticate });
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
  recorder = createRecorder(),
  checkReadiness = async () => {},
  metrics,
}: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  const operations = OPERATIONS.map((operation) => operation({ catalogue, clock, basePath }));
  const routeOf = (path: string) => basePath + path.replace(/\{(\w+)\}/, ':$1');
  const add = (method: 'get' | 'post', path: string, route: Route) => app[method](path, serve(path, route));

  app.use(recorder.middleware);
  // Scripts of other origins do not need the documentation page, whose responses vary by their coding only.
  if (corsOrigins.size > 0) app.use(except('/docs/*', allowOrigins(corsOrigins)));

  const guards: Guard[] = [shedLoad, requireKey(authenticate)];
  if (rateLimit > 0) guards.push(limitRate(createRateLimit(rateLimit)));
  async function admit(exchange: Exchange): Promise<void> {
    for (const guard of guards) await guard(exchange);
  }
  for (const { method, path, headers = {}, handle } of operations) {
    const fields = Object.entries(headers).map(([name, { value }]) => [name, value]);
    add(method, routeOf(path), { handle, guard: admit, fields: Object.fromEntries(fields) });
  }
  add('post', '/mcp', { handle: mcp({ catalogue, corsOrigins, version }), guard: admit });
  // Behind the routes that it is about: a request that one of them serves does not come here.
  for (const path of [`${basePath}/*`, '/mcp']) {
    app.use(path, async (c, next) => {
      await admit(c.get('exchange'));
      await next();
    });
  }

  add('get', '/livez', { handle: () => json('{"status":"live"}') });
  const ready: Route = {
    async handle() {
      await checkReadiness();
      return json('{"status":"ready"}');
    },
  };
  for (const path of ['/readyz', '/healthz']) add('get', path, ready);
  if (metrics !== undefined) {
    const headers = { 'content-type': metrics.contentType };
    add('get', '/metrics', { handle: async () => ({ status: 200, headers, body: await metrics.read() }) });
  }

  let document: string | undefined;
  add('get', '/openapi.json', {
    async handle() {
      // Loaded on use: TypeBox takes a third of the time of a start.
      const { openApiDocument } = await import('./openapi/document.ts');
      document ??= openApiDocument(operations, basePath);
      return json(document);
    },
  });
  for (const [path, route] of Object.entries(docs())) add('get', path, route);

  // Behind the routes: a request that is served does not come here.
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed(c, methods) {
        const allow = methods.join(', ');
        return respondToError(new HttpError('method_not_allowed', CLIENT_MESSAGES.allowedMethods(allow), { allow }), c);
      },
    }),
  );
  const paths = [...new Set(operations.map(({ path }) => basePath + path))];
  app.notFound((c) => respondToError(new HttpError('not_found', CLIENT_MESSAGES.noPath(paths)), c));
  app.onError(respondToError);
  return app;
}
