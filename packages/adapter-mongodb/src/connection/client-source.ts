import { MongoClient, type MongoClientOptions } from 'mongodb';
import type { TimeLimits } from '../time-limits.ts';
import { type ClientDescription, checkDatabase, describeOptions, parseUrl } from './connection-url.ts';

/** Creates clients of the driver, and closes them. */
export interface ClientSource extends ClientDescription {
  /** A new client for each attempt: a MongoClient whose first connect failed can't be reused. */
  get(): MongoClient;
  /** Takes back a client that is no longer used. */
  release(client: MongoClient): Promise<void>;
}

/**
 * Clients of the adapter's own, one for each attempt to connect.
 *
 * @throws StorageMisconfigured if the URL can't be used.
 */
export function clientsFromUrl(url: string, limits: TimeLimits): ClientSource {
  // These hold whatever the URL says.
  const options: MongoClientOptions = {
    appName: 'animal-store',
    serverSelectionTimeoutMS: limits.serverSelection,
    connectTimeoutMS: limits.connect,
    waitQueueTimeoutMS: limits.queue,
    socketTimeoutMS: limits.socket,
    heartbeatFrequencyMS: limits.heartbeat,
    readPreference: 'primary',
    retryReads: true,
    retryWrites: true,
  };
  return {
    ...parseUrl(url, options),
    get: () => new MongoClient(url, options),
    release: (client) => client.close(),
  };
}

/**
 * The client that the caller opened and closes.
 *
 * @param database The one that the caller has chosen; undefined: the one of the client.
 * @throws StorageMisconfigured if no database is named that can have pets.
 */
export function clientOfCaller(client: MongoClient, database: string | undefined): ClientSource {
  checkDatabase(database, client.options);
  return { ...describeOptions(client.options), get: () => client, release: async () => {} };
}
