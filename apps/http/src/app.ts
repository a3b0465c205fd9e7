import type { Authenticate } from '@animal-store/domain/transport';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { authenticateRequest } from './auth.ts';
import { mountDocs } from './docs.ts';
import { type Env, type Exchange, type Handle, UNMATCHED } from './http/exchange.ts';
import { CLIENT_MESSAGES, HttpError, type HttpResponse, JSON_TYPE, OVERLOADED } from './http/http-error.ts';
import { bodiesInProgress } from './http/request-body.ts';
import type { Metrics } from './observability/metrics.ts';
import type { CheckStorage } from './observability/readiness.ts';
import type { Operation } from './pets/operation.ts';
import type { RateLimit } from './rate-limit.ts';

export interface AppOptions {
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
  /** Origins whose scripts get access; `*` for all. */
  readonly corsOrigins: ReadonlySet<string>;
  readonly operations: readonly Operation[];
  readonly exchange: Exchange;
  readonly authenticate: Authenticate;
  /** null: no holder has a limit. */
  readonly rateLimit: RateLimit | null;
  readonly checkStorage: CheckStorage;
  /** Whether the service is stopping, and so not ready. */
  readonly isStopping: () => boolean;
  readonly registry: Metrics['registry'];
}

/** How many requests whose body has arrived may be in flight; operations beyond are rejected. */
export const IN_FLIGHT_MAX = 1_000;

/** The methods that routes serve, by that of Hono's router. */
const METHODS = { GET: ['GET', 'HEAD'], POST: ['POST'] } as const;

const CORS_OPTIONS = {
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id', 'traceparent'],
  exposeHeaders: [
    ...['Link', 'Location', 'Retry-After', 'Deprecation', 'Sunset', 'RateLimit', 'RateLimit-Policy'],
    ...['WWW-Authenticate', 'Allow', 'Idempotent-Replayed', 'X-Request-Id'],
  ],
  maxAge: 600,
};

const STOPPING = new HttpError('service_unavailable', CLIENT_MESSAGES.stopping);

/** Fetch, section 3.2.2. */
const isPreflight = ({ req }: Context<Env>): boolean =>
  req.header('origin') !== undefined && req.header('access-control-request-method') !== undefined;

const json = (body: string): HttpResponse => ({ status: 200, headers: JSON_TYPE, body });

/** The routes of the service. Each has one handler: a second one makes Hono compose them with promises, at half the speed. */
export function createApp(options: AppOptions): Hono<Env> {
  const { basePath, corsOrigins, operations, exchange, registry, checkStorage, isStopping } = options;
  const paths = [...new Set(operations.map(({ path }) => basePath + path))];
  const app = new Hono<Env>();
  if (corsOrigins.size > 0) {
    const allow = cors({ ...CORS_OPTIONS, origin: corsOrigins.has('*') ? '*' : [...corsOrigins] });
    // It would respond to every OPTIONS request.
    app.use((c, next) => (c.req.method !== 'OPTIONS' || isPreflight(c) ? allow(c, next) : next()));
  }
  const get = (path: string, handle: Handle) => app.get(path, exchange.handler(path, handle));

  /** Runs an operation for a request with a valid key, within its holder's quota, unless the service is overloaded. */
  const guarded =
    (run: (c: Context<Env>, holder: string) => Promise<HttpResponse>): Handle =>
    async (c, record) => {
      if (exchange.inFlight() - bodiesInProgress() > IN_FLIGHT_MAX) throw OVERLOADED;
      const key = await authenticateRequest(c, record, options.authenticate);
      record.key = key;
      if (options.rateLimit !== null) {
        const { headers, rejection } = options.rateLimit(key.holder);
        record.headers = { ...record.headers, ...headers };
        if (rejection !== null) throw rejection;
      }
      return run(c, key.holder);
    };

  for (const { method, path, handle, headers } of operations) {
    const route = basePath + path.replace(/\{(\w+)\}/, ':$1');
    app[method](route, exchange.handler(route, guarded(handle), headers));
  }

  const ready: Handle = async () => {
    if (isStopping()) throw STOPPING;
    await checkStorage();
    return json('{"status":"ready"}');
  };
  get('/livez', () => json('{"status":"live"}'));
  get('/readyz', ready);
  get('/healthz', ready);
  const metricsHeaders = { 'content-type': registry.contentType };
  get('/metrics', async () => ({ status: 200, headers: metricsHeaders, body: await registry.metrics() }));

  let document: Promise<string> | undefined;
  get('/openapi.json', async () => {
    // Loaded on use: TypeBox takes a third of the time of a start.
    document ??= import('./openapi/document.ts').then(({ openApiDocument }) => openApiDocument(operations, basePath));
    return json(await document);
  });
  mountDocs(app);

  app.onError((error, c) => exchange.handler(UNMATCHED, () => Promise.reject(error))(c));
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
  const rejectHolder = exchange.handler(UNMATCHED, guarded(reject));
  return app.notFound((c) => {
    const { path } = c.req;
    return path === basePath || path.startsWith(`${basePath}/`) ? rejectHolder(c) : rejectAnyone(c);
  });
}
