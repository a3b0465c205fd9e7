import { BUDGET } from '@animal-store/adapter-kit';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoClient, type MongoClientOptions } from 'mongodb';

/** They override the URL. */
const OPTIONS: MongoClientOptions = {
  appName: 'animal-store',
  // Finding the primary.
  serverSelectionTimeoutMS: BUDGET.driver,
  // Opening a socket, the handshake of TLS included.
  connectTimeoutMS: BUDGET.driver / 2,
  // Waiting for a free connection of the pool.
  waitQueueTimeoutMS: BUDGET.driver,
  // Shorter than a call, so that a silent server fails the shared wait before its callers give up.
  socketTimeoutMS: BUDGET.driver,
  // A silent server is dropped after this and connectTimeoutMS together.
  heartbeatFrequencyMS: BUDGET.driver,
  retryReads: true,
  retryWrites: true,
};

/** A replica set as its URL describes it. */
export interface Place {
  /** `host:port`, comma-separated, or the name of a `mongodb+srv` URL. */
  readonly location: string;
  /** Insecure options, one sentence each. */
  readonly warnings: readonly string[];
  readonly tls: boolean;
  /** Removes the secrets of the URL from a text of the driver. */
  redact(text: string): string;
  /** The name of the database; undefined if the client has it from its URL. */
  readonly database?: string;
  createClient(): MongoClient;
  /** Does nothing if the client is the caller's. */
  closeClient(client: MongoClient): Promise<void>;
}

/** @throws TypeError if the client is of another kind; StorageMisconfigured if it has unsuitable options. */
export function placeOf(client: MongoClient, database: string): Place {
  if (!(client instanceof MongoClient)) throw new TypeError('client must be a MongoClient of the installed mongodb');
  // Commands of the adapter are not in the Stable API.
  if (client.options.serverApi?.strict) throw new StorageMisconfigured('serverApi of the client must not be strict');
  if (RESERVED.includes(database)) throw new StorageMisconfigured(IS_RESERVED);
  return { ...describe(client.options), database, createClient: () => client, closeClient: async () => {} };
}

// The driver would read a part of a password as the host if the password had an unencoded /, ?, # or @.
const FORM = /^mongodb(?:\+srv)?:\/\/(?:[^/?#@]*@)?[^/?#@]+\/[^/?#@]+(?:\?[^#@]*)?$/;
const FORM_IN_WORDS =
  'the MongoDB URL must be mongodb://[user:password@]host[:port]/database[?options], with a database, with options that the ' +
  'driver knows and that agree, and with special characters percent-encoded';

/** The server does not replicate one of them, and creates no collection with a schema in the others. */
const RESERVED: readonly string[] = ['admin', 'config', 'local'];
const IS_RESERVED = `the databases ${RESERVED.join(', ')} are those of the server: name another`;

const DECODING = /[?&](bsonRegExp|enableUtf8Validation|fieldsAsRaw|promote(?:Buffers|Longs|Values)|raw|useBigInt64)=/i;

/** Parses a URL without connecting to anything. Throws StorageMisconfigured, whose message never quotes the URL. */
export function parseUrl(url: string): Place {
  const wrong = wrongPartOf(url);
  if (wrong !== null) throw new StorageMisconfigured(`${FORM_IN_WORDS}: ${wrong}`);
  const createClient = () => new MongoClient(url, OPTIONS);
  return { ...describe(createClient().options), createClient, closeClient: (client) => client.close() };
}

function describe(given: MongoClient['options']) {
  const { hosts, srvHost, credentials, proxyPassword, passphrase, ...options } = given;
  const token = credentials?.mechanismProperties['AWS_SESSION_TOKEN'];
  return {
    location: srvHost ?? hosts.join(','),
    warnings: warningsAbout(options),
    tls: options.tls,
    redact: redactor([credentials?.password, proxyPassword, passphrase, token]),
  };
}

/** What is wrong about a URL, or null. */
function wrongPartOf(url: string): string | null {
  if (!/^mongodb(\+srv)?:/.test(url)) return 'this is another scheme';
  if (/^[^/]*\/\/[^/?]*\/?(\?|$)/.test(url)) return 'no database is named';
  if (!FORM.test(url) || rejectionOf(() => decodeURIComponent(url)) !== null) {
    return 'a special character or a % is not encoded';
  }
  const [base = ''] = url.split('?');
  const name = DECODING.exec(url)?.[1];
  if (name !== undefined) return `the option ${name} would change how stored values are read`;
  if (RESERVED.some((database) => base.endsWith(`/${database}`))) return IS_RESERVED;
  if (/[?&]loadBalanced=true/i.test(url)) return 'the option loadBalanced is for clusters of shards';
  const reject = (given: string) => rejectionOf(() => new MongoClient(given, OPTIONS).db());
  if (reject(url) === null) return null;
  // The driver quotes options, and what follows an ampersand in a password would be one.
  if (/[?&][^=]*(?:password|properties)/i.test(url)) return 'the driver rejects the options';
  const rejection = reject(url.replace(/\/\/[^/@]*@/, '//user:password@'));
  if (rejection === null) return 'the driver rejects the user or the password';
  // Without an @ a user and a password look like a host and its port.
  const hosts = /\/\/([^/@]*)\//.exec(base)?.[1]?.split(',') ?? [];
  return redactor(hosts.filter((host) => host.includes(':')))(rejection);
}

/** The message of the error that is thrown, or null. */
function rejectionOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (failure) {
    return (failure as Error).message;
  }
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

function redactor(secrets: readonly (string | undefined)[]): Place['redact'] {
  const known = secrets.filter((secret) => secret !== undefined && secret !== '') as string[];
  const texts = [...known, ...known.map(encodeURIComponent)].sort((a, b) => b.length - a.length);
  return (text) => {
    const withoutUserInfo = text.replace(/\/\/[^/\s]*@/g, '//[redacted]@');
    return texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), withoutUserInfo);
  };
}
