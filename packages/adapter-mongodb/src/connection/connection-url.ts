import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import type { Redact } from './failures.ts';

const WITH_DATABASE = /^mongodb(?:\+srv)?:\/\/[^/?]+\/[^/?]/;

/** What the name of a database must not contain: the driver accepts some of it, and the server rejects it later. */
const NO_DATABASE = /[/\\. "$*<>:|?\0]|^.{64}/;

/** The server's own databases, whose documents can't have a schema. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'local', 'config']);

/** What is known of a server's clients before they connect. */
export interface ClientDescription {
  /** The servers, `host:port` and comma-separated. */
  readonly servers: string;
  /** Insecure options, one sentence each. */
  readonly warnings: readonly string[];
  /** Removes the secrets of the options from a text. */
  readonly redact: Redact;
}

/**
 * Parses a URL without connecting to anything.
 *
 * @throws StorageMisconfigured whose message never quotes the URL.
 */
export function parseUrl(url: string, options: MongoClientOptions): ClientDescription {
  const parsed = parsedOptions(url, options);
  if (!WITH_DATABASE.test(url)) {
    throw new StorageMisconfigured('the MongoDB URL must name the database, as in mongodb://localhost:27017/animals');
  }
  if (OF_THE_SERVER.has(parsed.dbName)) {
    throw new StorageMisconfigured(
      `the MongoDB URL must name a database of its own, not the server's ${parsed.dbName}; ?authSource=admin says where users are`,
    );
  }
  return describeOptions(parsed);
}

/**
 * Checks the database that the caller of a client has chosen.
 *
 * @param name Absent: the one of the client, which is `test` if its URL names none.
 * @throws StorageMisconfigured
 */
export function checkDatabase(name: string | undefined, { dbName }: MongoClient['options']): void {
  const chosen = name ?? dbName;
  if (name === undefined && chosen === 'test') {
    throw new StorageMisconfigured("the MongoDB client's URL names no database of its own: pass `database`");
  }
  if (OF_THE_SERVER.has(chosen)) {
    throw new StorageMisconfigured(`\`database\` must be one of its own, not the server's ${chosen}`);
  }
  if (chosen === '' || NO_DATABASE.test(chosen)) {
    throw new StorageMisconfigured(
      `\`database\` must have 1 to 63 characters, no space and none of / \\ . " $ * < > : | ?, was ${JSON.stringify(chosen)}`,
    );
  }
}

/** Describes clients with the given options. */
export function describeOptions(options: MongoClient['options']): ClientDescription {
  const { hosts, srvHost, credentials, proxyPassword, passphrase } = options;
  const token = credentials?.mechanismProperties['AWS_SESSION_TOKEN'];
  return {
    servers: srvHost ?? hosts.join(','),
    warnings: warningsAbout(options),
    redact: redactor([credentials?.password, proxyPassword, passphrase, token]),
  };
}

function parsedOptions(url: string, options: MongoClientOptions): MongoClient['options'] {
  const parsed = parse(url, options);
  if (parsed === null) {
    // The driver's message may quote the part of the URL that holds the password.
    const wrong = wrongOptions(url, options);
    if (wrong.length > 0) {
      throw new StorageMisconfigured(
        `the MongoDB URL cannot be read: correct or remove the option ${wrong.join(', ')}`,
      );
    }
    throw new StorageMisconfigured(
      'the MongoDB URL cannot be read: it must be mongodb://[user:password@]host[:port]/database[?options], with ' +
        'options that the driver knows, a name that a database can have, and the special characters of user and password ' +
        'percent-encoded',
    );
  }
  return parsed;
}

/** null if the driver can't read the URL, or if no database can have the name. */
function parse(url: string, options: MongoClientOptions): MongoClient['options'] | null {
  try {
    const client = new MongoClient(url, options);
    return NO_DATABASE.test(client.options.dbName) ? null : client.options;
  } catch {
    return null;
  }
}

/**
 * The names of the options without any of which a URL could be read; if there are none, of those that can't be read alone.
 * Nothing before the last @ is named, and nothing of a URL with a secret option: it may be a part of a password that is not
 * percent-encoded.
 */
function wrongOptions(url: string, options: MongoClientOptions): string[] {
  const begin = url.indexOf('?', url.lastIndexOf('@') + 1) + 1;
  const query = url.slice(begin);
  if (begin === 0 || /password|properties/i.test(query)) return [];
  const server = url.slice(0, begin);
  const pairs = query.split('&').filter((pair) => /^[a-z]+=/i.test(pair));
  const canBeRead = (some: readonly string[]) => parse(server + some.join('&'), options) !== null;
  if (!canBeRead([])) return [];
  const single = pairs.filter((pair) => canBeRead(pairs.filter((other) => other !== pair)));
  const wrong = single.length > 0 ? single : pairs.filter((pair) => !canBeRead([pair]));
  return wrong.map((pair) => pair.slice(0, pair.indexOf('=')));
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
