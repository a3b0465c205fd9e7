import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoClient, type MongoClientOptions } from 'mongodb';

const WITH_DATABASE = /^mongodb(?:\+srv)?:\/\/[^/?]+\/[^/?]/;

/** Invalid names of databases: the driver accepts some of them, and the server rejects them later. */
const NO_DATABASE = /[/\\. "$*<>:|?\0]|.{64}/;

/** The server's own databases, whose documents can't have a schema. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'local', 'config']);

const URL_RULE =
  'it must be mongodb://[user:password@]host[:port]/database[?options], with options that the driver knows and that agree, ' +
  'a name that a database can have, and the special characters of user and password percent-encoded';

/**
 * Checks a URL without connecting to anything.
 *
 * @param options The options of clients besides the URL.
 * @returns All options of such a client.
 * @throws StorageMisconfigured whose message never quotes the URL.
 */
export function parseUrl(url: string, options: MongoClientOptions): MongoClient['options'] {
  const parsed = parse(url, options);
  if (parsed === null) {
    // The driver's message may quote the part of the URL that holds the password.
    const wrong = wrongOptions(url, options);
    const reason = wrong.length > 0 ? `correct or remove the option ${wrong.join(', ')}` : URL_RULE;
    throw new StorageMisconfigured(`the MongoDB URL cannot be read: ${reason}`);
  }
  if (!WITH_DATABASE.test(url)) {
    throw new StorageMisconfigured('the MongoDB URL must name the database, as in mongodb://localhost:27017/animals');
  }
  if (OF_THE_SERVER.has(parsed.dbName)) {
    throw new StorageMisconfigured(
      `the MongoDB URL must name a database of its own, not the server's ${parsed.dbName}; ?authSource=admin says where users are`,
    );
  }
  return parsed;
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
 * The names of the options that can't be read alone. Nothing before the last @ is named, and nothing of a URL with a secret
 * option: it may be a part of a password that is not percent-encoded.
 */
function wrongOptions(url: string, options: MongoClientOptions): string[] {
  const begin = url.indexOf('?', url.lastIndexOf('@')) + 1;
  const query = url.slice(begin);
  if (/password|properties/i.test(query)) return [];
  const server = url.slice(0, begin);
  const pairs = query.split('&').filter((pair) => /^[a-z]+=/i.test(pair));
  const canBeRead = (pair: string) => parse(server + pair, options) !== null;
  if (!canBeRead('')) return [];
  return pairs.filter((pair) => !canBeRead(pair)).map((pair) => pair.slice(0, pair.indexOf('=')));
}
