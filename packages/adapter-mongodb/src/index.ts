import type { MonotonicClock } from '@animal-store/domain';
import type { PetStorage, RateLimiter, RatePolicy, StorageAdapter } from '@animal-store/domain/ports';
import { createCachedKeyStore } from './cached-key-store.ts';
import { readLinearizable } from './collections.ts';
import { createConnection } from './connection.ts';
import { createMongoKeyStore } from './mongo-key-store.ts';
import { createMongoPetStore } from './mongo-pet-store.ts';
import { createMongoRateLimiter } from './mongo-rate-limiter.ts';
import { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

export { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

export interface MongoStorageOptions {
  /**
   * Where the database is and what it is called: `mongodb://host:27017/animals` or `mongodb+srv://…`, of a replica set,
   * MongoDB 6.0 or newer.
   */
  readonly url: string;
  /** Milliseconds from any start, for the ages of what is kept in memory. Absent: the process's monotonic clock. */
  readonly clock?: MonotonicClock;
  /** Told of each lookup of an API key, and whether the server need not be asked. Must not throw. */
  readonly onKeyLookup?: (remembered: boolean) => void;
  /** Those that differ from {@link TIME_LIMITS}. */
  readonly timeLimits?: Partial<TimeLimits>;
}

/** Storage in MongoDB, and what else its processes share. */
export interface MongoStorage extends PetStorage {
  /** A limiter that counts for all processes on the database. */
  createRateLimiter(policy: RatePolicy): RateLimiter;
}

/**
 * Storage in MongoDB. It connects when it is first used and after every failure, and makes what it needs in the
 * database: a server that can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read or names no database.
 * @example const storage = createMongoStorage({ url: 'mongodb://localhost:27017/animals' })
 */
export function createMongoStorage({
  url,
  clock = () => performance.now(),
  onKeyLookup = () => {},
  timeLimits,
}: MongoStorageOptions): MongoStorage {
  const limits = { ...TIME_LIMITS, ...timeLimits };
  const connection = createConnection(url, limits);
  return {
    pets: createMongoPetStore(connection, limits, clock),
    keys: createCachedKeyStore(createMongoKeyStore(connection, limits), clock, onKeyLookup),
    // The servers that the URL names, comma-separated.
    location: connection.servers,

    ready: () => connection.call((collections) => readLinearizable(collections, limits)),

    createRateLimiter: (policy) => createMongoRateLimiter(connection, limits, policy),

    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** Storage in MongoDB, for applications that choose among adapters. Its setting is the URL. */
export const adapter: StorageAdapter = {
  keeps: 'in MongoDB',
  // To all who ask at once, that is.
  reusesPets: true,
  open: (url, events = {}) => createMongoStorage({ url, ...events }),
};
