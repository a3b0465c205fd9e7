// First of all imports: tsyringe throws if the Reflect metadata API is missing.
import 'reflect-metadata';
import { missingKeys, sha256, type Version } from '@animal-store/app-kit';
import { type Clock, createCatalogue } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
import { createAuthentication } from '@animal-store/domain/transport';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { type DependencyContainer, type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createApp } from './app/app.ts';
import { corsFields } from './app/cors.ts';
import type { Env } from './app/env.ts';
import { invalidRequest } from './app/errors.ts';
import { createRecorder, type Recorder } from './app/exchange.ts';
import type { RequestHead } from './app/incoming-request.ts';
import { CLIENT_MESSAGES } from './app/messages.ts';
import { responseOf } from './app/respond.ts';
import type { Configuration } from './configuration.ts';
import { createRequestLog, type Log, reportDefect } from './observability/log.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { createReadiness, createStorageCheck, type Phase, type StorageCheck } from './observability/readiness.ts';
import type { NodeRequest } from './server/request.ts';
import type { Listener } from './server/server.ts';

const BAD_TARGET = invalidRequest(CLIENT_MESSAGES.badTarget);

const token = <T>(name: string): InjectionToken<T> => Symbol(name);

/** The values that a service is made of. The container closes nothing: its caller closes the storage. */
const VALUES = {
  configuration: token<Configuration>('configuration'),
  version: token<Version>('version'),
  storage: token<Storage>('storage'),
  log: token<Log>('log'),
  /** How many lines of the log were dropped since the start. */
  droppedLines: token<() => number>('droppedLines'),
  phase: token<() => Phase>('phase'),
  /** Milliseconds since the epoch; it decides when the deprecated operation ends. */
  clock: token<Clock>('clock'),
};

export type Parts = {
  readonly [K in keyof typeof VALUES]: (typeof VALUES)[K] extends InjectionToken<infer T> ? T : never;
};

/** The parts that a container resolves. */
export const TOKENS = {
  ...VALUES,
  metrics: token<Metrics>('metrics'),
  storageCheck: token<StorageCheck>('storageCheck'),
  recorder: token<Recorder>('recorder'),
  app: token<Hono<Env>>('app'),
  listener: token<Listener>('listener'),
};

/** Registers every part of a service. To replace a part, register it again before it is resolved. */
export function compose(parts: Parts): DependencyContainer {
  const container = root.createChildContainer();
  for (const [name, useValue] of Object.entries(parts)) {
    container.register<unknown>(TOKENS[name as keyof Parts], { useValue });
  }
  const provide = <T>(name: InjectionToken<T>, make: (c: DependencyContainer) => T) =>
    container.register(name, { useFactory: instanceCachingFactory(make) });

  provide(TOKENS.storageCheck, (c) => {
    const [storage, { configuredKeys }] = [c.resolve(TOKENS.storage), c.resolve(TOKENS.configuration)];
    return createStorageCheck(storage, c.resolve(TOKENS.log), () => missingKeys(configuredKeys, storage.keys));
  });
  provide(TOKENS.metrics, (c) =>
    createMetrics({
      version: c.resolve(TOKENS.version),
      inFlight: () => c.resolve(TOKENS.recorder).load.inFlight,
      droppedLines: c.resolve(TOKENS.droppedLines),
      storageCheck: c.resolve(TOKENS.storageCheck),
      onError: (error) => reportDefect(c.resolve(TOKENS.log), error),
    }),
  );
  provide(TOKENS.recorder, (c) => {
    const [log, { CORS_ORIGINS, TRUST_PROXY }] = [c.resolve(TOKENS.log), c.resolve(TOKENS.configuration)];
    return createRecorder({
      observers: [c.resolve(TOKENS.metrics).observe, createRequestLog(log)],
      onObserverError: (error, { id }) => reportDefect(log, error, id),
      trustedProxies: TRUST_PROXY,
      rejectionFields: corsFields(CORS_ORIGINS),
    });
  });
  provide(TOKENS.app, (c) => {
    const { configuredKeys, ...configuration } = c.resolve(TOKENS.configuration);
    const [clock, metrics] = [c.resolve(TOKENS.clock), c.resolve(TOKENS.metrics)];
    const { pets, keys: issuedKeys } = metrics.instrument(c.resolve(TOKENS.storage));
    const monotonicClock = () => performance.now();
    return createApp({
      catalogue: createCatalogue(pets),
      authenticate: createAuthentication({ configuredKeys, issuedKeys, digest: sha256, clock, monotonicClock }),
      version: c.resolve(TOKENS.version).version,
      basePath: configuration.BASE_PATH,
      corsOrigins: configuration.CORS_ORIGINS,
      rateLimit: configuration.RATE_LIMIT,
      recorder: c.resolve(TOKENS.recorder),
      checkReadiness: createReadiness(c.resolve(TOKENS.storageCheck), c.resolve(TOKENS.phase)),
      clock,
      metrics,
    });
  });
  provide(TOKENS.listener, (c) => createListener(c.resolve(TOKENS.app), c.resolve(TOKENS.recorder)));
  return container;
}

/** Serves an application on Node.js' own requests and responses. */
function createListener(app: Hono<Env>, recorder: Recorder): Listener {
  const respondTo = (error: unknown, request: RequestHead) => responseOf(recorder.reject(error, request));
  // @hono/node-server names no request to `errorHandler`, which it calls for a RequestError before the listener returns.
  let latest: RequestHead;
  const listener = getRequestListener(
    (fetchRequest, env) => {
      const request = env.incoming as NodeRequest;
      return request.namesHost ? app.fetch(fetchRequest, { request }) : respondTo(BAD_TARGET, request);
    },
    {
      // Otherwise a client that still sends half a second after its 413 loses the connection, and maybe the 413.
      autoCleanupIncoming: false,
      // Of a request without a Host field.
      hostname: 'localhost',
      // Handlers do not throw. @hono/node-server rejects a Host field or a target that makes no URL.
      errorHandler: (error) => respondTo(error instanceof RequestError ? BAD_TARGET : error, latest),
    },
  );
  return (request, response) => {
    latest = request;
    return listener(request, response);
  };
}
