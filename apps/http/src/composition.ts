// First of all imports: tsyringe throws where the Reflect metadata API is missing.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import {
  type Authenticate,
  type Catalogue,
  type Clock,
  createAuthentication,
  createCatalogue,
  generateApiKey,
  type Storage,
} from '@animal-store/domain';
import type { Hono } from 'hono';
import { type DependencyContainer, type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createApp } from './app.ts';
import { type Configuration, configuredHolder } from './configuration.ts';
import type { Log } from './log.ts';
import type { Env } from './operation.ts';
import { petJson, remembering } from './pet-json.ts';
import { sha256 } from './sha256.ts';

/** A service that is put together and does not listen yet. */
export interface Application {
  readonly app: Hono<Env>;
  /** A key that was made for this run because none is configured; else null. */
  readonly developmentKey: string | null;
  /** Lets go of the storage. */
  close(): Promise<void>;
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name);

const CONFIGURED_KEYS = token<ReadonlyMap<string, string>>('configured keys');
const CLOCK = token<Clock>('clock');
const STORAGE = token<Storage>('storage');
const CATALOGUE = token<Catalogue>('catalogue');
const AUTHENTICATE = token<Authenticate>('authenticate');
const APP = token<Hono<Env>>('app');

/**
 * Puts the service together: the one place that knows which adapter stands behind which port.
 *
 * @param clock Milliseconds since the epoch; decides when the deprecated operation ends.
 */
export function compose(configuration: Configuration, log: Log, clock: Clock = Date.now): Application {
  const container = root.createChildContainer();
  const provide = <T>(key: InjectionToken<T>, make: (from: DependencyContainer) => T) =>
    container.register(key, { useFactory: instanceCachingFactory(make) });

  const developmentKey = configuration.configuredKeys.size === 0 ? generateApiKey(randomBytes) : null;

  provide(CLOCK, () => clock);
  provide(CONFIGURED_KEYS, () =>
    developmentKey === null ? configuration.configuredKeys : holdersOf(sha256(developmentKey)),
  );
  provide(STORAGE, () => createMemoryStorage());
  provide(CATALOGUE, (from) => createCatalogue(from.resolve(STORAGE).pets));
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
      catalogue: from.resolve(CATALOGUE),
      petJson: remembering(petJson),
      authenticate: from.resolve(AUTHENTICATE),
      storage: from.resolve(STORAGE),
      clock: from.resolve(CLOCK),
      basePath: configuration.basePath,
      onFault: log.fault,
    }),
  );

  return {
    app: container.resolve(APP),
    developmentKey,
    // The container knows nothing of closing what its factories made.
    close: async () => container.resolve(STORAGE).close(),
  };
}

function holdersOf(digest: string): ReadonlyMap<string, string> {
  return new Map([[digest, configuredHolder(digest)]]);
}
