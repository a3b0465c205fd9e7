import { MongoClient, type MongoClientOptions } from 'mongodb';
import type { TimeLimits } from '../time-limits.ts';
import { checkDatabase, parseUrl } from './connection-url.ts';
import type { Redact } from './failures.ts';

/** Creates clients of the driver, and closes them. */
export interface ClientSource {
  /** The servers, `host:port` and comma-separated. */
  readonly servers: string;
  /** Insecure options, one sentence each. */
  readonly warnings: readonly string[];
  /** Removes the secrets of the options from a text. */
  readonly redact: Redact;
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
  // These options override the URL.
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
  const release = (client: MongoClient) => client.close();
  return { ...describe(parseUrl(url, options)), get: () => new MongoClient(url, options), release };
}

/**
 * The client that the caller opened and closes.
 *
 * @param database The name that the caller has chosen; undefined: that of the client.
 * @throws StorageMisconfigured if no database is named that can have pets.
 */
export function clientOfCaller(client: MongoClient, database: string | undefined): ClientSource {
  checkDatabase(database, client.options);
  return { ...describe(client.options), get: () => client, release: async () => {} };
}

function describe(options: MongoClient['options']): Pick<ClientSource, 'servers' | 'warnings' | 'redact'> {
  const { hosts, srvHost, credentials, proxyPassword, passphrase } = options;
  const token = credentials?.mechanismProperties['AWS_SESSION_TOKEN'];
  return {
    servers: srvHost ?? hosts.join(','),
    warnings: warningsAbout(options),
    redact: redactor([credentials?.password, proxyPassword, passphrase, token]),
  };
}

function warningsAbout({ tls, rejectUnauthorized, checkServerIdentity }: MongoClient['options']): string[] {
  if (!tls) return [];
  if (rejectUnauthorized === false) {
    return ["tlsInsecure or tlsAllowInvalidCertificates: the server's certificate is not verified, remove the option"];
  }
  return checkServerIdentity === undefined
    ? []
    : ["tlsAllowInvalidHostnames: the name in the server's certificate is not verified, remove the option"];
}

function redactor(secrets: readonly (string | undefined)[]): Redact {
  const known = secrets.filter((secret) => secret !== undefined && secret !== '') as string[];
  const texts = [...known, ...known.map(encodeURIComponent)].sort((a, b) => b.length - a.length);
  return (text) => {
    const withoutUserInfo = text.replace(/\/\/[^/\s]*@/g, '//[redacted]@');
    return texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), withoutUserInfo);
  };
}
