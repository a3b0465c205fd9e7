// First of all imports: tsyringe throws where the Reflect metadata API is missing.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { type Clock, DomainError } from '@animal-store/domain';
import { type PetStorage, type StorageAdapter, StorageMisconfigured } from '@animal-store/domain/ports';
import {
  type Authenticate,
  type AwaitableCatalogue,
  createAuthentication,
  createAwaitableCatalogue,
  generateApiKey,
} from '@animal-store/domain/transport';
import type { Hono } from 'hono';
import { type DependencyContainer, type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createCors } from './access/cors.ts';
import { createInProcessRateLimiter } from './access/in-process-rate-limiter.ts';
import { type RateLimit, withFallback } from './access/rate-limit.ts';
import { createApp } from './app.ts';
import { type Configuration, ConfigurationError, configuredHolder } from './configuration.ts';
import type { Observer, OnUnexpectedError } from './http/exchange.ts';
import { isUnexpected } from './http/http-error.ts';
import { combineObservers } from './http/observers.ts';
import type { Env } from './http/operation.ts';
import { createLoadShedding, type LoadShedding } from './observability/load-shedding.ts';
import { type Log, reasonOf } from './observability/log.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { docsPage } from './openapi/docs-page.ts';
import { petOperations } from './pets/index.ts';
import { memoized, type PetJson, petJson } from './pets/pet-json.ts';
import { DROP_REASONS, type DropReason } from './server/server.ts';
import { sha256 } from './sha256.ts';

/** A service that is put together and does not listen yet. */
export interface Application {
  readonly app: Hono<Env>;
  readonly storage: PetStorage;
  /** Those who watch its requests. */
  readonly observers: readonly Observer[];
  readonly onUnexpectedError: OnUnexpectedError;
  /** Told of each connection that is not kept. */
  readonly onDrop: (reason: DropReason) => void;
  /** Told whether the storage is in reach. */
  readonly onStorageCheck: (inReach: boolean) => void;
  /** Where the storage is, for the log: without user and password. */
  readonly storageAddress: string;
  /** The mistake of configuration that an error of the storage shows, in one line; null for one that waiting heals. */
  misconfiguration(error: unknown): string | null;
  /** From now on the service is not ready. It goes on serving. */
  beginStop(): void;
  /** Lets go of everything that was opened here. */
  close(): Promise<void>;
  /** A key that was made for this run because none is configured; else null. */
  readonly developmentKey: string | null;
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name);

const CONFIGURED_KEYS = token<ReadonlyMap<string, string>>('configured keys');
const CLOCK = token<Clock>('clock');
const STORAGE = token<PetStorage>('storage');
const OPENED = token<PetStorage>('opened storage');
const METRICS = token<Metrics>('metrics');
const WATCHERS = token<readonly Observer[]>('observers');
const ON_FAULT = token<OnUnexpectedError>('on unexpected error');
const LOAD_SHEDDING = token<LoadShedding>('overload');
const RATE_LIMIT = token<RateLimit | null>('rate limit');
const PET_JSON = token<PetJson>('pet json');
const CATALOGUE = token<AwaitableCatalogue>('catalogue');
const AUTHENTICATE = token<Authenticate>('authenticate');
const APP = token<Hono<Env>>('app');

/**
 * Puts the service together: the one place that knows which adapter stands behind which port.
 *
 * @param clock Milliseconds since the epoch; decides when the deprecated operation ends.
 * @throws ConfigurationError where the storage can't be what the configuration says.
 */
export async function compose(
  configuration: Configuration,
  log: Pick<Log, 'linesLost' | 'observer' | 'unexpectedError' | 'warnThrottled'>,
  clock: Clock = Date.now,
): Promise<Application> {
  const { adapter, variable, setting } = await adapterFor(configuration.storage);
  const misconfiguration = (error: unknown) => {
    const reason = DomainError.is(error) ? error.cause : error;
    return StorageMisconfigured.is(reason) ? `${variable}: ${reason.message}` : null;
  };
  const container = root.createChildContainer();
  const provide = <T>(key: InjectionToken<T>, make: (from: DependencyContainer) => T) =>
    container.register(key, { useFactory: instanceCachingFactory(make) });

  const { configuredKeys, production } = configuration;
  const developmentKey = configuredKeys.size === 0 && !production ? generateApiKey(randomBytes) : null;

  let stopping = false;

  provide(CLOCK, () => clock);
  provide(CONFIGURED_KEYS, () => (developmentKey === null ? configuredKeys : holdersOf(sha256(developmentKey))));
  provide(METRICS, () => createMetrics({ logLinesLost: log.linesLost, dropReasons: DROP_REASONS }));
  provide(WATCHERS, (from) => [
    combineObservers([log.observer, from.resolve(METRICS).observer], from.resolve(ON_FAULT)),
  ]);
  provide(ON_FAULT, (from) => {
    const { countUnexpectedError } = from.resolve(METRICS);
    return (error, requestId) => {
      countUnexpectedError();
      log.unexpectedError(error, requestId);
    };
  });
  provide(LOAD_SHEDDING, () => createLoadShedding(configuration.maxEventLoopDelay));
  provide(OPENED, (from) => {
    try {
      return adapter.open(setting, { onKeyLookup: from.resolve(METRICS).keyLookedUp });
    } catch (error) {
      throw StorageMisconfigured.is(error) ? new ConfigurationError(misconfiguration(error) as string) : error;
    }
  });
  provide(STORAGE, (from) => from.resolve(METRICS).observed(from.resolve(OPENED)));
  provide(RATE_LIMIT, (from) => {
    const { rateLimit: limit } = configuration;
    if (limit === 0) return null;
    const policy = { limit, window: RATE_WINDOW };
    const monotonic = () => performance.now();
    const own = createInProcessRateLimiter(policy, monotonic);
    const onFailure = (error: unknown) => {
      if (isUnexpected(error)) from.resolve(ON_FAULT)(error);
      else
        log.warnThrottled('requests are counted by this process alone: the shared count failed', {
          reason: reasonOf(error),
        });
    };
    const shared = from.resolve(OPENED).createRateLimiter?.(policy);
    return {
      policy,
      limiter: shared === undefined ? own : withFallback(shared, own, monotonic, onFailure),
    };
  });
  provide(PET_JSON, () => (adapter.reusesPets ? memoized(petJson) : petJson));
  provide(CATALOGUE, (from) => createAwaitableCatalogue(from.resolve(STORAGE).pets));
  provide(AUTHENTICATE, (from) =>
    createAuthentication({
      configuredKeys: from.resolve(CONFIGURED_KEYS),
      issuedKeys: from.resolve(STORAGE).keys,
      digest: sha256,
      clock: from.resolve(CLOCK),
    }),
  );
  provide(APP, (from) =>
    createApp({
      operations: petOperations({
        catalogue: from.resolve(CATALOGUE),
        petJson: from.resolve(PET_JSON),
        clock: from.resolve(CLOCK),
        basePath: configuration.basePath,
      }),
      authenticate: from.resolve(AUTHENTICATE),
      storage: from.resolve(STORAGE),
      basePath: configuration.basePath,
      cors: configuration.corsOrigins.size === 0 ? null : createCors(configuration.corsOrigins),
      rateLimit: from.resolve(RATE_LIMIT),
      observers: from.resolve(WATCHERS),
      onUnexpectedError: from.resolve(ON_FAULT),
      metrics: configuration.metrics ? from.resolve(METRICS).read : null,
      docs: configuration.docs ? docsPage() : [],
      isStopping: () => stopping,
      shouldShed: from.resolve(LOAD_SHEDDING).shouldShed,
    }),
  );

  return {
    app: container.resolve(APP),
    storage: container.resolve(STORAGE),
    observers: container.resolve(WATCHERS),
    onUnexpectedError: container.resolve(ON_FAULT),
    onDrop(reason) {
      container.resolve(METRICS).countDrop(reason);
      log.warnThrottled(DROP_WARNINGS[reason]);
    },
    onStorageCheck: container.resolve(METRICS).storageChecked,
    storageAddress: container.resolve(OPENED).location,
    misconfiguration,
    developmentKey,
    beginStop() {
      stopping = true;
    },
    // The container knows nothing of closing what its factories made.
    async close() {
      container.resolve(LOAD_SHEDDING).stop();
      await container.resolve(STORAGE).close();
    },
  };
}

const DROP_WARNINGS: Readonly<Record<DropReason, string>> = {
  connections: 'connections are closed at once: there are MAX_CONNECTIONS of them',
  requests: 'connections are cut: they sent too many requests without waiting for answers',
};

/** The time that a holder's quota of requests is for, in milliseconds. */
const RATE_WINDOW = 60_000;

/** An adapter, and the variable that holds its setting. */
interface Chosen {
  readonly adapter: StorageAdapter;
  readonly variable: string;
  readonly setting: string;
}

/** The adapter that the configuration names, loaded only then: a driver takes longer to load than all the rest. */
async function adapterFor(storage: Configuration['storage']): Promise<Chosen> {
  switch (storage.kind) {
    case 'memory': {
      const { adapter } = await import('@animal-store/adapter-memory');
      return { adapter, variable: 'STORAGE', setting: '' };
    }
    case 'mongodb': {
      const { adapter } = await import('@animal-store/adapter-mongodb');
      return { adapter, variable: 'MONGODB_URL', setting: storage.url };
    }
    case 'sqlite': {
      const { adapter } = await import('@animal-store/adapter-sqlite');
      return { adapter, variable: 'SQLITE_FILE', setting: storage.file };
    }
  }
}

function holdersOf(digest: string): ReadonlyMap<string, string> {
  return new Map([[digest, configuredHolder(digest)]]);
}
