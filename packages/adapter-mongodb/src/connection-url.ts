import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import type { Redact } from './failures.ts';

const WITH_DATABASE = /^mongodb(?:\+srv)?:\/\/[^/?]+\/[^/?]/;

/** What no name of a database may contain: the driver lets some of it through, and the server refuses it later. */
const NO_DATABASE = /[/\\. "$*<>:|?\0]|^.{64}/;

/** The server's own databases, whose documents can't have rules. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'local', 'config']);

/** What is known of a URL before anything is connected. */
export interface ReadUrl {
  /** The servers that it names, `host:port` and comma-separated. */
  readonly servers: string;
  /** Takes the URL's secrets out of a text. */
  readonly redact: Redact;
}

/**
 * Reads a URL without connecting to anything.
 *
 * @throws StorageMisconfigured which never quotes the URL.
 */
export function readUrl(url: string, options: MongoClientOptions): ReadUrl {
  const { dbName, hosts, srvHost, credentials, proxyPassword, passphrase } = parsed(url, options);
  if (!WITH_DATABASE.test(url)) {
    throw new StorageMisconfigured('the MongoDB URL must name the database, as in mongodb://localhost:27017/animals');
  }
  if (OF_THE_SERVER.has(dbName)) {
    throw new StorageMisconfigured(
      `the MongoDB URL must name a database of its own, not the server's ${dbName}; ?authSource=admin says where users are`,
    );
  }
  const token = credentials?.mechanismProperties['AWS_SESSION_TOKEN'];
  return {
    servers: srvHost ?? hosts.join(','),
    redact: redactor([credentials?.password, proxyPassword, passphrase, token]),
  };
}

function parsed(url: string, options: MongoClientOptions): MongoClient['options'] {
  try {
    const client = new MongoClient(url, options);
    if (NO_DATABASE.test(client.options.dbName)) throw new Error();
    return client.options;
  } catch {
    // What the driver says may quote the part of the URL that holds the password.
    throw new StorageMisconfigured(
      'the MongoDB URL cannot be read: it must be mongodb://[user:password@]host[:port]/database[?options], with ' +
        'options that the driver knows, a name that a database can have, and the special characters of user and password ' +
        'percent-encoded',
    );
  }
}

function redactor(secrets: readonly (string | undefined)[]): Redact {
  const known = secrets.filter((secret) => secret !== undefined && secret !== '') as string[];
  const texts = [...known, ...known.map(encodeURIComponent)].sort((a, b) => b.length - a.length);
  return (text) => {
    const withoutUserInfo = text.replace(/\/\/[^/\s]*@/g, '//[redacted]@');
    return texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), withoutUserInfo);
  };
}
