import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import type { Redact } from './failures.ts';

/** In milliseconds. A call ends after 2.2 seconds. */
export const TIME_LIMITS = {
  /** The work on the server, and the wait for the majority of its members. */
  operation: 1_500,
  /** How long a batch delays the next one of its kind. */
  batch: 500,
};

/** They override the URL. */
const OPTIONS: MongoClientOptions = {
  appName: 'animal-store',
  // Finding the primary.
  serverSelectionTimeoutMS: 2_000,
  // Opening a socket, the handshake of TLS included.
  connectTimeoutMS: 1_000,
  // Waiting for a free connection of the pool.
  waitQueueTimeoutMS: 2_000,
  // Shorter than a call, so that a silent server fails the shared wait before its callers give up.
  socketTimeoutMS: 1_700,
  // A silent server is dropped after this and connectTimeoutMS together.
  heartbeatFrequencyMS: 2_000,
  retryReads: true,
  retryWrites: true,
};

/** A replica set as its URL describes it. */
export interface Server {
  /** `host:port`, comma-separated, or the name of a `mongodb+srv` URL. */
  readonly location: string;
  /** Insecure options, one sentence each. */
  readonly warnings: readonly string[];
  readonly redact: Redact;
  createClient(): MongoClient;
}

const FORM = /^mongodb(?:\+srv)?:\/\/[^/?]+\/[^/?]/;
const FORM_IN_WORDS =
  'the MongoDB URL must be mongodb://[user:password@]host[:port]/database[?options], with a database, with options that the ' +
  'driver knows and that agree, and with the special characters of user and password percent-encoded';

/** Parses a URL without connecting to anything. Throws StorageMisconfigured, whose message never quotes the URL. */
export function parseUrl(url: string): Server {
  const createClient = () => new MongoClient(url, OPTIONS);
  const { hosts, srvHost, credentials, proxyPassword, passphrase, ...options } = parsed(url, createClient);
  const token = credentials?.mechanismProperties['AWS_SESSION_TOKEN'];
  return {
    location: srvHost ?? hosts.join(','),
    warnings: warningsAbout(options),
    redact: redactor([credentials?.password, proxyPassword, passphrase, token]),
    createClient,
  };
}

function parsed(url: string, createClient: () => MongoClient): MongoClient['options'] {
  try {
    const { options } = createClient();
    if (FORM.test(url)) return options;
  } catch {
    // The driver's message may quote the part of the URL that holds the password.
  }
  throw new StorageMisconfigured(FORM_IN_WORDS);
}

function warningsAbout(options: Pick<MongoClient['options'], 'tls' | 'rejectUnauthorized' | 'checkServerIdentity'>) {
  const { tls, rejectUnauthorized, checkServerIdentity } = options;
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
