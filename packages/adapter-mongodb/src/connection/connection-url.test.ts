import { inspect } from 'node:util';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { TIME_LIMITS } from '../time-limits.ts';
import { clientsFromUrl } from './client-source.ts';
import { checkDatabase, parseUrl } from './connection-url.ts';

describe('checkDatabase', () => {
  const check = (path: string, name?: string) =>
    checkDatabase(name, new MongoClient(`mongodb://localhost${path}`).options);

  test.each([
    ['', undefined, /names no database/],
    ['/', undefined, /names no database/],
    ['/test', undefined, /names no database/],
    ['/admin', undefined, /not the server's admin$/],
    ['/animals', 'admin', /not the server's admin$/],
    ['/animals', 'an imals', /no space .*, was "an imals"$/],
    ['/animals', '', /1 to 63 characters.*, was ""$/],
    ['/animals', 'a'.repeat(64), /1 to 63 characters/],
  ])('rejects the client of mongodb://localhost%s with the database %j', (path, name, message) => {
    expect(() => check(path, name)).toThrow(StorageMisconfigured);
    expect(() => check(path, name)).toThrow(message);
  });

  test.each([
    ['/animals', undefined],
    ['', 'animals'],
    ['/admin', 'test'],
  ])('accepts the client of mongodb://localhost%s with the database %j', (path, name) => {
    expect(() => check(path, name)).not.toThrow();
  });
});

const SECRET = 'p%40ss-w0rd';
const SPELLINGS = [SECRET, 'p@ss-w0rd', 'ss-w0rd'];

describe('parseUrl', () => {
  test.each([
    ['', /cannot be read/],
    ['localhost:27017/animals', /cannot be read/],
    [`http://user:${SECRET}@localhost/animals`, /cannot be read/],
    [`mongodb://user:p@ss-w0rd@localhost/animals`, /cannot be read/],
    [`mongodb://user:p/ss-w0rd@localhost/animals`, /cannot be read/],
    [`mongodb://user:p?ss-w0rd@localhost/animals`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost:99999999/animals`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost/animals?tls=true&colour=brown`, /: correct or remove the option colour$/],
    [`mongodb://user:${SECRET}@localhost/animals?tls=perhaps&appName=a`, /: correct or remove the option tls$/],
    [`mongodb://user:${SECRET}@localhost/animals?tls=perhaps&w=1&colour=1`, /the option tls, colour$/],
    [`mongodb://localhost/animals?colour=1&${SECRET}`, /: correct or remove the option colour$/],
    ['mongodb://localhost/animals?colour=1&ss-w0rd=1', /: correct or remove the option colour$/],
    [`mongodb://user:${SECRET}@localhost/animals?tls=true&ssl=false`, /options .* that agree, .* percent-encoded$/],
    ['mongodb://localhost/?appName=mongodb://localhost/animals', /must name the database/],
    [`mongodb://localhost/animals?colour=1&proxyPassword=p&${SECRET}=1`, /: it must be mongodb:/],
    ['mongodb://user:p?w0rd=ss-w0rd@localhost/animals?colour=1', /: it must be mongodb:/],
    ['mongodb://user:p?ss-w0rd@localhost/animals&w0rd=1', /: it must be mongodb:/],
    [`mongodb://user:${SECRET}@localhost/an$imals`, /cannot be read/],
    [`mongodb://user:${SECRET}@localhost`, /must name the database/],
    [`mongodb://user:${SECRET}@localhost/`, /must name the database/],
    [`mongodb://user:${SECRET}@localhost/?authSource=admin`, /must name the database/],
    [`mongodb://user:${SECRET}@localhost/admin`, /must name a database of its own, not the server's admin/],
    [`mongodb+srv://user:${SECRET}@localhost.example.com/?tls=true`, /must name the database/],
  ])('rejects %s in one line without credentials', (url, reason) => {
    let thrown: unknown;
    try {
      parseUrl(url, {});
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StorageMisconfigured);
    const { message, stack } = thrown as Error;
    expect(message).toMatch(reason);
    expect(message).not.toContain('\n');
    const everything = [stack, message, inspect(thrown, { depth: 20, showHidden: true })].join('\n');
    for (const spelling of SPELLINGS) expect(everything).not.toContain(spelling);
  });
});

describe('clientsFromUrl', () => {
  test.each([
    [`mongodb://us%3Aer:${SECRET}@one:1,two/animals?replicaSet=rs0`, 'one:1,two:27017'],
    ['mongodb://[::1]:5/animals', '[::1]:5'],
    [`mongodb+srv://user:${SECRET}@cluster.example.com/animals`, 'cluster.example.com'],
  ])('names the servers of %s without credentials', (url, servers) => {
    expect(clientsFromUrl(url, TIME_LIMITS).servers).toBe(servers);
  });

  const NOT_VERIFIED = expect.stringMatching(/^tlsInsecure or tlsAllowInvalidCertificates: .* not verified/);
  test.each([
    ['tls=true&tlsInsecure=true', [NOT_VERIFIED]],
    ['tls=true&tlsAllowInvalidCertificates=true', [NOT_VERIFIED]],
    ['ssl=true&tlsInsecure=true', [NOT_VERIFIED]],
    ['tls=true&tlsAllowInvalidHostnames=true', [expect.stringMatching(/^tlsAllowInvalidHostnames: .* not verified/)]],
    ['tls=true&tlsInsecure=false', []],
    ['tls=true', []],
    ['tls=false', []],
  ])('warns about what %s weakens', (query, warnings) => {
    const url = `mongodb://us%3Aer:${SECRET}@one:1,two:2/animals?authSource=admin&replicaSet=rs0&${query}`;
    expect(clientsFromUrl(url, TIME_LIMITS).warnings).toEqual(warnings);
  });
});
