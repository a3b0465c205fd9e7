// First of all imports: tsyringe throws if the Reflect metadata API is missing.
import 'reflect-metadata';
import { docsPage } from '@animal-store/api-docs';
import { sha256, type Version } from '@animal-store/app-kit';
import type { Clock } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { createAuthentication, createAwaitableCatalogue } from '@animal-store/domain/transport';
import type { Listener, RenderRejection } from '@animal-store/http-server';
import { createLoadShedding, createMetrics, type Log, type Metrics } from '@animal-store/observability';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createRateLimit } from './access/rate-limit.ts';
import { createApps } from './app.ts';
import type { Configuration } from './configuration.ts';
import { combineObservers, createRejectionRenderer, type Observer, type OnUnexpectedError } from './http/exchange.ts';
import { createListener } from './http/listener.ts';
import { createRequestMetrics, type RequestMetrics } from './observability/request-metrics.ts';
import { completeSpan } from './observability/tracing.ts';
import { petOperations } from './pets/index.ts';

/** The parts of a service, which tests replace. */
export interface ServiceDependencies {
  readonly configuration: Configuration;
  readonly version: Version;
  /** The service closes it. */
  readonly storage: PetStorage;
  readonly log: Pick<Log, 'linesLost' | 'unexpectedError' | 'warnThrottled'>;
  readonly requestLog: Observer;
  /** Reads the metrics of all workers; absent: there is only this process. */
  readonly readMetrics?: (() => Promise<string>) | undefined;
  /** Milliseconds since the epoch; it decides when the deprecated operation ends. */
  readonly clock?: Clock;
}

/** A service that is put together and does not listen yet. */
export interface ComposedService {
  readonly listener: Listener;
  readonly probeListener: Listener;
  readonly renderRejection: RenderRejection;
  readonly storage: PetStorage;
  readonly metrics: Metrics;
  readonly requestMetrics: RequestMetrics;
  /** Makes the service unready. It continues to serve. */
  beginStop(): void;
  /** Releases everything that was opened here. */
  close(): Promise<void>;
}

/** Puts the service together, layer by layer. */
export function compose({
  configuration,
  version,
  storage: opened,
  log,
  requestLog,
  readMetrics,
  clock = Date.now,
}: ServiceDependencies): ComposedService {
  const { BASE_PATH: basePath, TRUST_PROXY: trustedProxies } = configuration;
  const container = root.createChildContainer();
  /** Registers a singleton and returns its getter. */
  const provide = <T>(name: string, make: () => T): (() => T) => {
    const token: InjectionToken<T> = Symbol(name);
    container.register(token, { useFactory: instanceCachingFactory(make) });
    return () => container.resolve(token);
  };
  let stopping = false;

  // Observability
  const metrics = provide('metrics', () => createMetrics({ ...version }, log.linesLost, readMetrics));
  const requestMetrics = provide('request metrics', () => createRequestMetrics(metrics().registry));
  const onUnexpectedError: OnUnexpectedError = (error, requestId) => {
    metrics().countUnexpectedError();
    log.unexpectedError(error, { requestId });
  };
  const observe = provide('observer', () =>
    combineObservers([completeSpan, requestLog, requestMetrics().observe], onUnexpectedError),
  );
  const loadShedding = provide('load shedding', () => createLoadShedding(configuration.MAX_EVENT_LOOP_DELAY_MS));

  // The use cases on the storage
  const storage = provide('storage', () => metrics().instrument(opened));
  const catalogue = provide('catalogue', () => createAwaitableCatalogue(storage().pets));
  const authenticate = provide('authentication', () =>
    createAuthentication({
      configuredKeys: configuration.configuredKeys,
      issuedKeys: storage().keys,
      digest: sha256,
      clock,
    }),
  );

  // HTTP
  const rateLimit = provide('rate limit', () =>
    createRateLimit(configuration.RATE_LIMIT, storage(), onUnexpectedError, log.warnThrottled),
  );
  const apps = provide('apps', () =>
    createApps({
      basePath,
      publicUrl: configuration.PUBLIC_URL || null,
      trustedProxies,
      operations: petOperations({ catalogue: catalogue(), clock, basePath }),
      authenticate: authenticate(),
      storage: storage(),
      rateLimit: rateLimit(),
      corsOrigins: configuration.CORS_ORIGINS,
      observe: observe(),
      inFlight: requestMetrics().inFlight,
      onUnexpectedError,
      metrics: configuration.METRICS === 'on' ? metrics() : null,
      docs: configuration.DOCS === 'on' ? docsPage() : [],
      hasProbePort: configuration.PROBE_PORT !== 0,
      isStopping: () => stopping,
      shouldShed: loadShedding().shouldShed,
    }),
  );

  return {
    listener: createListener(apps().main, onUnexpectedError),
    probeListener: createListener(apps().probes, onUnexpectedError),
    renderRejection: createRejectionRenderer(observe(), trustedProxies),
    storage: storage(),
    metrics: metrics(),
    requestMetrics: requestMetrics(),
    beginStop() {
      stopping = true;
    },
    // tsyringe does not close what factories made.
    async close() {
      loadShedding().stop();
      await storage().close();
    },
  };
}
