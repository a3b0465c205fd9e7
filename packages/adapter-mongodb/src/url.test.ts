import { inspect } from 'node:util';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describe, expect, test } from 'vitest';
import { parseUrl } from './url.ts';

const SECRET = 'p%40ss-w0rd';
const SPELLINGS = [SECRET, 'p@ss-w0rd', 'ss-w0rd'];

describe('parseUrl', () => {
  test.each([
    [`http://user:${SECRET}@localhost/animals`, 'this is another scheme'],
    [`mongodb://user:p@ss-w0rd@localhost/animals`, 'a special character or a % is not encoded'],
    [`mongodb://user:p/ss-w0rd@localhost/animals`, 'a special character or a % is not encoded'],
    [`mongodb://user:p?ss-w0rd@localhost/animals`, 'no database is named'],
    [`mongodb://user:p%ss-w0rd@localhost/animals`, 'a special character or a % is not encoded'],
    [`mongodb://user:${SECRET}@localhost/ani%mals`, 'a special character or a % is not encoded'],
    [`mongodb://user:${SECRET}@localhost/animals?authSource=%ff`, 'a special character or a % is not encoded'],
    [`mongodb://user:${SECRET}@localhost:99999999/animals`, 'Unable to parse localhost:99999999 with URL'],
    [`mongodb://user:${SECRET}/animals`, 'Unable to parse [redacted] with URL'],
    [`mongodb://user:ss-w0rd/animals?tls=true`, 'Unable to parse [redacted] with URL'],
    [`mongodb://user:${SECRET}@localhost/ani.mals`, "Database names cannot contain the character '.'"],
    ...['admin', 'config', 'local'].map((name) => [
      `mongodb://user:${SECRET}@localhost/${name}`,
      'the databases admin, config, local are those of the server: name another',
    ]),
    [
      `mongodb://user:${SECRET}@localhost/animals?loadBalanced=true`,
      'the option loadBalanced is for clusters of shards',
    ],
    [`mongodb://user:${SECRET}@localhost/animals?tls=true&colour=brown`, 'option colour is not supported'],
    [
      `mongodb://user:${SECRET}@localhost/animals?compressors=gzip&tls=true`,
      'gzip is not a valid compression mechanism. Must be one of: none,snappy,zlib,zstd.',
    ],
    [`mongodb://user:${SECRET}@localhost/animals?tls=true&ssl=false`, 'All values of tls/ssl must be the same.'],
    [`mongodb://user:${SECRET}@localhost/animals?tls=perhaps&a=b`, 'tls/ssl must be either "true" or "false"'],
    [`mongodb://:${SECRET}@localhost/animals`, 'the driver rejects the user or the password'],
    [
      `mongodb://localhost/animals?proxyHost=x&proxyUsername=u&proxyPassword=p&ss-w0rd=y`,
      'the driver rejects the options',
    ],
    ...['promoteValues', 'useBigInt64', 'RAW', 'bsonRegExp', 'enableUtf8Validation'].map((name) => [
      `mongodb://user:${SECRET}@localhost/animals?tls=true&${name}=false`,
      `the option ${name} would change how stored values are read`,
    ]),
    [`mongodb://user:${SECRET}@localhost/?authSource=admin`, 'no database is named'],
    [`mongodb+srv://user:${SECRET}@localhost.example.com/?tls=true`, 'no database is named'],
    ['mongodb://localhost/?appName=mongodb://localhost/animals', 'no database is named'],
  ])('rejects %s in one line without credentials, because %s', async (url, wrong) => {
    const thrown = await failureOf(() => parseUrl(url));
    expect(thrown).toBeInstanceOf(StorageMisconfigured);
    expect(String(thrown)).toMatch(/: the MongoDB URL must be mongodb:\/\/.*, with a database, .* percent-encoded: /);
    expect(String(thrown).endsWith(`: ${wrong}`)).toBe(true);
    const everything = inspect(thrown, { depth: 20, showHidden: true });
    for (const spelling of SPELLINGS) expect(everything).not.toContain(spelling);
  });

  test('accepts every character in the name of a database, percent-encoded', () => {
    const { createClient } = parseUrl("mongodb://localhost/a%40b%23c%26d%3De%25f%2Bg'(h)%5Bi%5D;%2C%C3%AB%3F");
    expect(createClient().db().databaseName).toBe("a@b#c&d=e%f+g'(h)[i];,ë?");
  });

  test.each([
    [`mongodb://us%3Aer:${SECRET}@one:1,two/animals?replicaSet=rs0`, 'one:1,two:27017'],
    ['mongodb://[::1]:5/animals', '[::1]:5'],
    [`mongodb+srv://user:${SECRET}@cluster.example.com/animals`, 'cluster.example.com'],
  ])('names the servers of %s without credentials', (url, servers) => {
    expect(parseUrl(url).location).toBe(servers);
  });

  const NOT_VERIFIED = expect.stringMatching(/^tlsInsecure or tlsAllowInvalidCertificates: .* not verified/);
  test.each([
    ['tls=true&tlsInsecure=true', [NOT_VERIFIED]],
    ['ssl=true&tlsAllowInvalidCertificates=true', [NOT_VERIFIED]],
    ['tls=true&tlsAllowInvalidHostnames=true', [expect.stringMatching(/^tlsAllowInvalidHostnames: .* not verified/)]],
    ['tls=true', []],
    ['tls=false', []],
  ])('warns of what %s weakens', (query, warnings) => {
    const url = `mongodb://us%3Aer:${SECRET}@one:1,two:2/animals?authSource=admin&replicaSet=rs0&${query}`;
    expect(parseUrl(url).warnings).toEqual(warnings);
  });
});
