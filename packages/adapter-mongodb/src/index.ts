/** @module @animal-store/adapter-mongodb */

import type { MonotonicClock } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import type { MongoClient } from 'mongodb';
import { clientOfCaller, clientsFromUrl } from './connection/client-source.ts';
import { createConnection } from './connection/connection.ts';
import { createMongoKeyStore } from './keys/mongo-key-store.ts';
import { openDatabase } from './open-database.ts';
import { createMongoPetStore } from './pets/mongo-pet-store.ts';
import { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

export { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

/** Where the database is: a replica set of MongoDB 6.0 or newer. */
export type MongoLocation =
  | {
      /** Servers and database: `mongodb://host:27017/animals` or `mongodb+srv://…`. */
      readonly url: string;
    }
  | {
      /**
       * A client that the caller opened and closes. Its own limits hold for connecting and for silence on a socket: set
       * `serverSelectionTimeoutMS`, `waitQueueTimeoutMS` and `socketTimeoutMS`.
       */
      readonly client: MongoClient;
      /** The name of the database. Absent: the one that the client's URL names, if it is not `test`. */
      readonly database?: string;
    };

export type MongoStorageOptions = MongoLocation & {
  /** Milliseconds from any start, for the ages of reserved ids. Absent: the process's monotonic clock. */
  readonly clock?: MonotonicClock;
  /** Limits that differ from {@link TIME_LIMITS}. */
  readonly timeLimits?: Partial<TimeLimits>;
};

/**
 * Storage in MongoDB. It connects when it is first used and after every failure, and creates what it needs in the
 * database: a server that can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read, or no database is named that can have pets.
 * @example const storage = createMongoStorage({ url: 'mongodb://localhost:27017/animals' })
 */
export function createMongoStorage(options: MongoStorageOptions): PetStorage {
  const { clock = () => performance.now() } = options;
  const limits = { ...TIME_LIMITS, ...options.timeLimits };
  const [clients, name] =
    'client' in options
      ? [clientOfCaller(options.client, options.database), options.database]
      : [clientsFromUrl(options.url, limits), undefined];
  const connection = createConnection(clients, limits, (client) => openDatabase(client, { name, limits, clock }));
  return {
    pets: createMongoPetStore(connection),
    keys: createMongoKeyStore(connection, limits),
    location: clients.servers,
    warnings: clients.warnings,

    ready: () => connection.call(({ check }) => check()),

    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
