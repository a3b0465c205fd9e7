import type { Catalogue, Clock } from '@animal-store/domain';
import type { Authenticate } from '@animal-store/domain/transport';
import { Hono } from 'hono';
import { METHOD_NAME_ALL } from 'hono/router';
import { requireKey } from './auth.ts';
import { allowOrigins, respondToPreflight } from './cors.ts';
import { docs } from './docs.ts';
import type { Env } from './env.ts';
import { HttpError, JSON_TYPE, type Reply } from './errors.ts';
import { createRecorder, type Recorder } from './exchange.ts';
import { shedLoad } from './load-shedding.ts';
import { mcp } from './mcp.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import { createPet } from './pets/create-pet.ts';
import { getPet } from './pets/get-pet.ts';
import { listPets } from './pets/list-pets.ts';
import { createRateLimit, limitRate } from './rate-limit.ts';
import { UNMATCHED } from './record.ts';
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
 * The service as a Hono application, from top to bottom in the order in which guards and routes run.
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
  const isBelow = (path: string, base: string) => path === base || path.startsWith(`${base}/`);

  const cors: readonly Guard[] = corsOrigins.size > 0 ? [allowOrigins(corsOrigins)] : [];
  const admission = [shedLoad, requireKey(authenticate)];
  if (rateLimit > 0) admission.push(limitRate(createRateLimit(rateLimit)));
  // Scripts of other origins do not need the documentation page, whose responses vary by their coding only.
  const corsOf = (path: string) => (isBelow(path, '/docs') ? [] : cors);
  const admissionOf = (path: string) => (isBelow(path, basePath) || path === '/mcp' ? admission : []);
  const add = (method: 'get' | 'post', path: string, route: Route) =>
    app[method](path, serve(recorder, path, [...corsOf(path), ...admissionOf(path)], route));

  for (const { method, path, headers = {}, handle } of operations) {
    const fields = Object.entries(headers).map(([name, { value }]) => [name, value]);
    add(method, routeOf(path), { handle, fields: Object.fromEntries(fields) });
  }
  add('post', '/mcp', { handle: mcp({ catalogue, corsOrigins, version }) });

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

  const paths = [...new Set(operations.map(({ path }) => basePath + path))];
  app.notFound(
    serve(recorder, UNMATCHED, [], {
      async handle({ req: { path } }, exchange) {
        for (const guard of corsOf(path)) await guard(exchange);
        const preflight = respondToPreflight(exchange);
        if (preflight !== undefined) return preflight;
        for (const guard of admissionOf(path)) await guard(exchange);
        const allow = methodsOf(app, path).join(', ');
        if (allow === '') throw new HttpError('not_found', CLIENT_MESSAGES.noPath(paths));
        throw new HttpError('method_not_allowed', CLIENT_MESSAGES.allowedMethods(allow), { allow });
      },
    }),
  );
  return app;
}

/** The methods of a path's routes. Hono's own `methodNotAllowed` is a middleware, for which each request would pay. */
function methodsOf({ router, routes }: Hono<Env>, path: string): readonly string[] {
  const methods = new Set(routes.map(({ method }) => method));
  // Of a middleware that somebody adds.
  methods.delete(METHOD_NAME_ALL);
  return [...methods]
    .filter((method) => router.match(method, path)[0].some(([[, route]]) => route.method === method))
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
