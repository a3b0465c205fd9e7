import { inspect } from 'node:util';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describe, expect, test } from 'vitest';
import { parseUrl } from './url.ts';

const SECRET = 'p%40ss-w0rd';
const SPELLINGS = [SECRET, 'p@ss-w0rd', 'ss-w0rd'];

describe('parseUrl', () => {
  test.each([
    [''],
    [`http://user:${SECRET}@localhost/animals`],
    [`mongodb://user:p@ss-w0rd@localhost/animals`],
    [`mongodb://user:p/ss-w0rd@localhost/animals`],
    [`mongodb://user:p?ss-w0rd@localhost/animals`],
    [`mongodb://user:${SECRET}@localhost:99999999/animals`],
    [`mongodb://user:${SECRET}@localhost/animals?tls=true&colour=brown`],
    [`mongodb://user:${SECRET}@localhost/animals?tls=true&ssl=false`],
    [`mongodb://user:${SECRET}@localhost/?authSource=admin`],
    [`mongodb://user:${SECRET}@localhost`],
    [`mongodb+srv://user:${SECRET}@localhost.example.com/?tls=true`],
    ['mongodb://localhost/?appName=mongodb://localhost/animals'],
  ])('rejects %s in one line without credentials', async (url) => {
    const thrown = await failureOf(() => parseUrl(url));
    expect(thrown).toBeInstanceOf(StorageMisconfigured);
    expect(String(thrown)).toMatch(/: the MongoDB URL must be mongodb:\/\/.*, with a database, .* percent-encoded$/);
    const everything = inspect(thrown, { depth: 20, showHidden: true });
    for (const spelling of SPELLINGS) expect(everything).not.toContain(spelling);
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
