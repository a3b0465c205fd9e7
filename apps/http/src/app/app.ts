import type { Catalogue, Clock } from '@animal-store/domain';
import type { Authenticate } from '@animal-store/domain/transport';
import { type Context, Hono } from 'hono';
import { createAdmission } from './auth.ts';
import { allowOrigins } from './cors.ts';
import { mountDocs } from './docs.ts';
import { HttpError, JSON_TYPE, type Reply } from './errors.ts';
import { createExchange, type Exchange, UNMATCHED } from './exchange.ts';
import type { Env, Handle } from './handler.ts';
import { mcp } from './mcp.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import { createPet } from './pets/create-pet.ts';
import { getPet } from './pets/get-pet.ts';
import { listPets } from './pets/list-pets.ts';
import { createRateLimit } from './rate-limit.ts';

export interface AppOptions {
  readonly catalogue: Catalogue;
  readonly authenticate: Authenticate;
  /** Of the program, for MCP. Absent: `1.0.0`. */
  readonly version?: string;
  /** Where the paths of the operations begin, without a trailing slash. Absent: `/v1`. */
  readonly basePath?: string;
  /** Milliseconds since the epoch; it decides when the deprecated operation ends. Absent: `Date.now`. */
  readonly clock?: Clock;
  /** Origins whose scripts get access; `*` for all. Absent: none. */
  readonly corsOrigins?: ReadonlySet<string>;
  /** How many requests a holder may make in a minute; 0, or absent: any number. */
  readonly rateLimit?: number;
  /** Absent: nobody is notified of requests. */
  readonly exchange?: Exchange;
  /** Resolves if the storage is available. Absent: it is. */
  readonly checkStorage?: () => Promise<void>;
  /** Whether the service is stopping, and so not ready. Absent: it is not. */
  readonly isStopping?: () => boolean;
  /** What `/metrics` responds with. Absent: there is no such path. */
  readonly metrics?: { readonly contentType: string; read(): Promise<string> };
}

/** The methods that routes serve, by that of Hono's router. */
const METHODS = { GET: ['GET', 'HEAD'], POST: ['POST'] } as const;

/** In the order in which their routes match. */
const OPERATIONS = [listPets, createPet, getPet] as const;

const STOPPING = new HttpError('service_unavailable', CLIENT_MESSAGES.stopping);

const json = (body: string): Reply => ({ status: 200, headers: JSON_TYPE, body });

/**
 * The service as a Hono application, for any runtime.
 *
 * @example await createApp({ catalogue, authenticate }).request('/v1/pets', { headers: { authorization: `Bearer ${key}` } })
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
  checkStorage = async () => {},
  isStopping = () => false,
  metrics,
}: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  if (corsOrigins.size > 0) app.use(allowOrigins(corsOrigins));

  const operations = OPERATIONS.map((operation) => operation({ catalogue, clock, basePath }));
  const admit = createAdmission(authenticate, rateLimit === 0 ? null : createRateLimit(rateLimit));
  for (const { method, path, handle, headers = {} } of operations) {
    const route = basePath + path.replace(/\{(\w+)\}/, ':$1');
    const values = Object.entries(headers).map(([name, { value }]) => [name, value]);
    app[method](route, exchange.handler(route, handle, { admit, headers: Object.fromEntries(values) }));
  }

  app.post('/mcp', exchange.handler('/mcp', mcp({ catalogue, corsOrigins, version }), { admit }));

  const get = (path: string, handle: Handle) => app.get(path, exchange.handler(path, handle));
  const ready: Handle = async () => {
    if (isStopping()) throw STOPPING;
    await checkStorage();
    return json('{"status":"ready"}');
  };
  get('/livez', () => json('{"status":"live"}'));
  get('/readyz', ready);
  get('/healthz', ready);
  if (metrics !== undefined) {
    const headers = { 'content-type': metrics.contentType };
    get('/metrics', async () => ({ status: 200, headers, body: await metrics.read() }));
  }

  let document: string | undefined;
  get('/openapi.json', async () => {
    // Loaded on use: TypeBox takes a third of the time of a start.
    const { openApiDocument } = await import('./openapi/document.ts');
    document ??= openApiDocument(operations, basePath);
    return json(document);
  });
  mountDocs(app);

  const paths = [...new Set(operations.map(({ path }) => basePath + path))];
  const reject = async ({ req }: Context<Env>): Promise<never> => {
    // Middleware matches every method.
    const routed = Object.entries(METHODS).filter(([method]) =>
      app.router.match(method, req.path)[0].some(([[, route]]) => route.method === method),
    );
    if (routed.length === 0) throw new HttpError('not_found', CLIENT_MESSAGES.noPath(paths));
    const allow = routed.flatMap(([, methods]) => methods).join(', ');
    throw new HttpError('method_not_allowed', CLIENT_MESSAGES.allowedMethods(allow), { allow });
  };
  const rejectAnyone = exchange.handler(UNMATCHED, reject);
  const rejectHolder = exchange.handler(UNMATCHED, reject, { admit });
  app.notFound((c) => {
    const { path } = c.req;
    return path === basePath || path.startsWith(`${basePath}/`) ? rejectHolder(c) : rejectAnyone(c);
  });
  app.onError((error, c) => exchange.handler(UNMATCHED, () => Promise.reject(error))(c));
  return app;
}
