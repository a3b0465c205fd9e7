import { type DocsRoute, staticContent } from '@animal-store/api-docs';
import { singleFlight } from '@animal-store/async';
import type { PetStorage } from '@animal-store/domain/ports';
import { andThen } from '@animal-store/domain/transport';
import type { Metrics } from '@animal-store/observability';
import { type Context, Hono } from 'hono';
import { createCors } from './access/cors.ts';
import { createGuard, type GuardDependencies } from './access/guard.ts';
import { CLIENT_MESSAGES } from './http/client-messages.ts';
import { createHandlers, type Handler, type HandlerDependencies, type Responder, UNMATCHED } from './http/exchange.ts';
import { HttpError } from './http/http-error.ts';
import type { Env, Operation } from './http/operation.ts';
import { type Headers, jsonResponse } from './http/response.ts';

export interface AppDependencies extends GuardDependencies, Omit<HandlerDependencies, 'originHeaders'> {
  /** Where the paths of the operations begin: `/v1`, without a trailing slash. */
  readonly basePath: string;
  /** The base address for clients; null: the base path on the host that serves the document. */
  readonly publicUrl: string | null;
  readonly operations: readonly Operation[];
  readonly storage: Pick<PetStorage, 'ready'>;
  /** Whether the service is stopping, and so not ready. */
  readonly isStopping: () => boolean;
  /** Whether the probes are served on a port of their own only. */
  readonly hasProbePort: boolean;
  /** Origins whose scripts get access; `*` for all. */
  readonly corsOrigins: ReadonlySet<string>;
  /** null if METRICS=off. */
  readonly metrics: Pick<Metrics, 'contentType' | 'read'> | null;
  /** The documentation page; empty if DOCS=off. */
  readonly docs: readonly DocsRoute[];
}

interface Route {
  readonly method: Operation['method'];
  /** The path in the syntax of Hono. */
  readonly path: string;
  readonly responder: Responder;
  /** Header fields of every response. */
  readonly headers?: Headers | undefined;
}

/** The HTTP methods that a route serves. */
const METHODS: Readonly<Record<Operation['method'], readonly string[]>> = { get: ['GET', 'HEAD'], post: ['POST'] };

/** Throws the error of a request without a route. */
type Reject = (request: Context<Env>) => never;

const STOPPING = HttpError.unavailable('stopping', CLIENT_MESSAGES.stopping);

/** One application for each port. */
export interface Apps {
  /** The operations under the base path, the documents and, unless they have a port of their own, the probes. */
  readonly main: Hono<Env>;
  readonly probes: Hono<Env>;
}

export function createApps(dependencies: AppDependencies): Apps {
  const { basePath, corsOrigins, operations, hasProbePort } = dependencies;
  const guard = createGuard(dependencies);
  const probes = probeRoutes(dependencies);
  const routes = [
    ...operations.map(({ method, path, handle, headers }): Route => {
      const pattern = basePath + path.replace(/\{(\w+)\}/, ':$1');
      return { method, path: pattern, responder: guard(handle), headers };
    }),
    ...documentRoutes(dependencies),
    ...(hasProbePort ? [] : probes),
  ];
  const cors = corsOrigins.size === 0 ? null : createCors(corsOrigins, Object.values(METHODS).flat().join(', '));
  const handler = createHandlers({ ...dependencies, originHeaders: cors?.headers ?? null });

  /** @param unmatched Makes the handler of requests without a route. */
  const mount = (mounted: readonly Route[], notFound: string, unmatched: (reject: Reject) => Handler) => {
    const app = new Hono<Env>();
    for (const { method, path, responder, headers } of mounted) app[method](path, handler(path, responder, headers));
    const reject: Reject = ({ req }) => {
      const routed = Object.entries(METHODS).filter(([method]) => {
        const [handlers] = app.router.match(method.toUpperCase(), req.path);
        return handlers.length > 0;
      });
      if (routed.length === 0) throw new HttpError('not_found', notFound);
      const allow = routed.flatMap(([, methods]) => methods).join(', ');
      throw new HttpError('method_not_allowed', CLIENT_MESSAGES.allowedMethods(allow), { allow });
    };
    return app.notFound(unmatched(reject));
  };

  return {
    main: mount(routes, CLIENT_MESSAGES.noPath(operationPaths(dependencies)), (reject) => {
      const rejectAnyone = handler(UNMATCHED, reject);
      const rejectHolder = handler(UNMATCHED, guard(reject));
      return (request) => {
        const { incoming } = request.env;
        // Browsers send no credentials with a preflight.
        const preflight = cors?.preflight(incoming.method, incoming.headers);
        if (preflight) return handler(UNMATCHED, () => preflight)(request);
        const { path } = request.req;
        return path === basePath || path.startsWith(`${basePath}/`) ? rejectHolder(request) : rejectAnyone(request);
      };
    }),
    probes: mount(probes, CLIENT_MESSAGES.noPath(probes.map(({ path }) => path)), (reject) =>
      handler(UNMATCHED, reject),
    ),
  };
}

const get = (path: string, responder: Responder): Route => ({ method: 'get', path, responder });

/** The endpoints for the operator's machines. */
function probeRoutes({ isStopping, metrics, storage }: AppDependencies): Route[] {
  const checkStorage = singleFlight(() => storage.ready());
  const ready: Responder = () => {
    if (isStopping()) throw STOPPING;
    return andThen(checkStorage(), () => jsonResponse('{"status":"ready"}'));
  };
  return [
    get('/livez', () => jsonResponse('{"status":"live"}')),
    get('/readyz', ready),
    get('/healthz', ready),
    ...(metrics === null ? [] : [metricsRoute(metrics)]),
  ];
}

function metricsRoute({ contentType, read }: Pick<Metrics, 'contentType' | 'read'>): Route {
  const headers = { 'content-type': contentType };
  return get('/metrics', () => andThen(read(), (body) => ({ status: 200, headers, body })));
}

/** The documents, which need no key. */
function documentRoutes(dependencies: AppDependencies): Route[] {
  const document: DocsRoute = {
    path: '/openapi.json',
    respond: staticContent({
      type: 'application/json',
      headers: {},
      read: async () => Buffer.from(await loadDocument(dependencies)),
    }),
  };
  return [document, ...dependencies.docs].map(({ path, respond }) =>
    get(path, ({ env }) => respond(env.incoming.headers)),
  );
}

/** Loads the OpenAPI document and TypeBox on use only: they take 13 MB and a third of the time of a start. */
async function loadDocument({ basePath, operations, publicUrl }: AppDependencies): Promise<string> {
  const { openApiDocument } = await import('./openapi/document.ts');
  return openApiDocument({
    server: publicUrl ?? basePath,
    basePath,
    operations,
    notFoundMessage: CLIENT_MESSAGES.noPath(operationPaths({ basePath, operations })),
  });
}

function operationPaths({ basePath, operations }: Pick<AppDependencies, 'basePath' | 'operations'>): string[] {
  return [...new Set(operations.map(({ path }) => basePath + path))];
}
