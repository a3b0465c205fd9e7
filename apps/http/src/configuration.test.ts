import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ConfigurationError, readConfiguration } from './configuration.ts';

const digest = (key: string) => createHash('sha256').update(key).digest('hex');

function mistakesIn(environment: Record<string, string>): string {
  try {
    readConfiguration(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('accepted');
}

test('with nothing set, everything has its default', () => {
  expect(readConfiguration({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    basePath: '/v1',
    storage: { kind: 'memory' },
    production: false,
    configuredKeys: new Map(),
    logLevel: 'info',
    metrics: true,
    docs: true,
    corsOrigins: new Set(),
    rateLimit: 0,
    stopGrace: 0,
    stopDeadline: 10_000,
    maxConnections: 10_000,
    maxEventLoopDelay: 50,
  });
});

test('a variable that is empty is not set', () => {
  const empty = { HOST: '', PORT: '', BASE_PATH: '', STORAGE: '', API_KEYS: '', LOG_LEVEL: '', NODE_ENV: '' };
  expect(readConfiguration(empty)).toEqual(readConfiguration({}));
});

test.each([
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '65535' }, { port: 65_535 }],
  [{ HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
  [{ HOST: '::1' }, { host: '::1' }],
  [{ BASE_PATH: '/animals/store-2/v1' }, { basePath: '/animals/store-2/v1' }],
  [{ BASE_PATH: '/~me/a.b_c/v1' }, { basePath: '/~me/a.b_c/v1' }],
  [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
  [{ NODE_ENV: 'production', API_KEYS: 'k'.repeat(16) }, { production: true }],
  [{ NODE_ENV: 'Production', API_KEYS: 'k'.repeat(16) }, { production: true }],
  [
    { NODE_ENV: 'production', API_KEYS: 'k'.repeat(16), STORAGE: 'memory', MONGODB_URL: 'mongodb://h/d' },
    { storage: { kind: 'memory' } },
  ],
  [{ METRICS: 'off' }, { metrics: false, docs: true }],
  [{ DOCS: 'off' }, { metrics: true, docs: false }],
  [{ MAX_CONNECTIONS: '1' }, { maxConnections: 1 }],
  [{ MAX_EVENT_LOOP_DELAY_MS: '0' }, { maxEventLoopDelay: 0 }],
  [
    { CORS_ORIGINS: 'https://a.example, http://b.example:8080, http://[::1]:3000' },
    { corsOrigins: new Set(['https://a.example', 'http://b.example:8080', 'http://[::1]:3000']) },
  ],
  [{ CORS_ORIGINS: '*' }, { corsOrigins: new Set(['*']) }],
  [{ RATE_LIMIT: '600' }, { rateLimit: 600 }],
  [
    { STOP_GRACE_SECONDS: '5', STOP_DEADLINE_SECONDS: '20' },
    { stopGrace: 5_000, stopDeadline: 20_000 },
  ],
  [{ STORAGE: 'memory', MONGODB_URL: 'mongodb://h/d' }, { storage: { kind: 'memory' } }],
  [{ STORAGE: 'mongodb', MONGODB_URL: 'mongodb://h/d' }, { storage: { kind: 'mongodb', url: 'mongodb://h/d' } }],
  [{ STORAGE: 'sqlite', SQLITE_FILE: './a.db' }, { storage: { kind: 'sqlite', file: './a.db' } }],
])('%o is understood', (environment, expected) => {
  expect(readConfiguration(environment)).toMatchObject(expected);
});

test.each<[Record<string, string>, string | RegExp]>([
  [{ PORT: '65536' }, 'PORT must be an integer from 0 to 65535, was "65536"'],
  [{ PORT: '3000x' }, 'PORT must be an integer from 0 to 65535, was "3000x"'],
  ...['-1', '+80', ' 80', '80.5', '80.0', '1e3', '0x50', '٨٠'].map((port): [Record<string, string>, string] => [
    { PORT: port },
    `PORT must be an integer from 0 to 65535, was "${port}"`,
  ]),
  [{ CORS_ORIGINS: 'example.org' }, /^CORS_ORIGINS must be origins/],
  [{ CORS_ORIGINS: 'https://a.example/' }, /^CORS_ORIGINS must be origins/],
  [{ CORS_ORIGINS: 'https://a.example:123456' }, /^CORS_ORIGINS must be origins/],
  [{ CORS_ORIGINS: 'https://a.example http://b.example' }, /^CORS_ORIGINS must be origins/],
  [{ CORS_ORIGINS: 'https://A.example' }, /^CORS_ORIGINS must be origins as browsers send them/],
  [{ CORS_ORIGINS: 'https://a.example:443' }, /^CORS_ORIGINS must be origins as browsers send them/],
  [{ CORS_ORIGINS: 'https://a_b.example,https://ä.example' }, /^CORS_ORIGINS must be origins as browsers send them/],
  [{ CORS_ORIGINS: 'chrome-https://a.example' }, /^CORS_ORIGINS must be origins/],
  [{ RATE_LIMIT: '-1' }, /^RATE_LIMIT must be an integer from 0/],
  [{ STOP_DEADLINE_SECONDS: '0' }, /^STOP_DEADLINE_SECONDS must be an integer from 1 to 300/],
  [{ HOST: 'a b' }, 'HOST must be a host name or address, was "a b"'],
  [{ STORAGE: 'mongodb' }, /^MONGODB_URL must be set where STORAGE is mongodb/],
  [{ STORAGE: 'sqlite', MONGODB_URL: 'mongodb://h/d' }, /^SQLITE_FILE must be set where STORAGE is sqlite/],
  [{ STORAGE: 'sqlite', SQLITE_FILE: ':memory:' }, /^SQLITE_FILE must name a file; STORAGE=memory/],
  [
    { NODE_ENV: 'production', API_KEYS: 'k'.repeat(16), MONGODB_URL: 'mongodb://h/d' },
    /^STORAGE must be set where MONGODB_URL is/,
  ],
  [
    { NODE_ENV: 'production', API_KEYS: 'k'.repeat(16), SQLITE_FILE: './a.db' },
    /^STORAGE must be set where SQLITE_FILE is/,
  ],
  [{ STORAGE: 'Memory' }, /^STORAGE must be one of memory.*, was "Memory"$/],
  [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, was "loud"$/],
  ...['v1', '/', '/v1/', '/v2', '/api', '/a b/v1', '//v1', '/../v1', '/./v1', '/%41/v1', '/:id/v1', '/*/v1', '/V1'].map(
    (path): [Record<string, string>, RegExp] => [{ BASE_PATH: path }, /^BASE_PATH must be a path/],
  ),
])('%o is refused', (environment, message) => {
  expect(mistakesIn(environment)).toEqual(message instanceof RegExp ? expect.stringMatching(message) : message);
});

test('all mistakes are named in one message', () => {
  const message = mistakesIn({ PORT: 'x', BASE_PATH: 'x', STORAGE: 'x', API_KEYS: 'x', LOG_LEVEL: 'x' });
  for (const name of ['PORT', 'BASE_PATH', 'STORAGE', 'API_KEYS', 'LOG_LEVEL']) expect(message).toContain(name);
  expect(message).not.toContain('\n');
});

describe('API_KEYS', () => {
  test('each key is a holder of its own, known by its digest', () => {
    const [one, other] = ['a-key-of-16-chars', 'another-key-of-20-chars'];
    const { configuredKeys } = readConfiguration({ API_KEYS: `${one}, sha256:${digest(other).toUpperCase()}` });
    expect([...configuredKeys.keys()]).toEqual([digest(one), digest(other)]);
    expect(new Set(configuredKeys.values()).size).toBe(2);
  });

  test('a key has the same holder whether it is given itself or as its digest, first or last', () => {
    const key = 'a-key-of-16-chars';
    const holder = readConfiguration({ API_KEYS: key }).configuredKeys.get(digest(key));
    expect(holder).toBeDefined();
    const { configuredKeys } = readConfiguration({ API_KEYS: `${'x'.repeat(16)},SHA256:${digest(key)}` });
    expect(configuredKeys.get(digest(key))).toBe(holder);
  });

  test.each([
    ['too-short', 'entry 1 must be a key of at least 16 visible ASCII characters, has 9 characters'],
    ['k'.repeat(15), 'entry 1 must be a key of at least 16 visible ASCII characters, has 15 characters'],
    ['with a space in it', 'entry 1 must be a key of at least 16 visible ASCII characters, has 18 characters'],
    ['ключ-ключ-ключ-ключ', 'entry 1 must be a key of at least 16 visible ASCII characters, has 19 characters'],
    [`${'k'.repeat(16)},`, 'entry 2 must be a key of at least 16 visible ASCII characters, has 0 characters'],
    ['sha256:', 'entry 1 must be sha256: and 64 hexadecimal digits'],
    [`sha256:${'a'.repeat(63)}`, 'entry 1 must be sha256: and 64 hexadecimal digits'],
    [`sha256:${'g'.repeat(64)}`, 'entry 1 must be sha256: and 64 hexadecimal digits'],
    [`sha256:${'a'.repeat(65)}`, 'entry 1 must be sha256: and 64 hexadecimal digits'],
  ])('%j is refused without being repeated', (given, violation) => {
    const message = mistakesIn({ API_KEYS: given });
    expect(message).toBe(`API_KEYS ${violation}`);
  });

  test('in production there must be some', () => {
    expect(mistakesIn({ NODE_ENV: 'production' })).toMatch(/^API_KEYS must be set/);
    expect(mistakesIn({ NODE_ENV: 'production', API_KEYS: 'short' })).toMatch(/^API_KEYS entry 1 must be [^;]*$/);
    // Where keys can be issued, the storage is asked first.
    const issued = { NODE_ENV: 'production', STORAGE: 'mongodb', MONGODB_URL: 'mongodb://h/d' };
    expect(() => readConfiguration(issued)).not.toThrow();
    expect(() => readConfiguration({ NODE_ENV: 'production', API_KEYS: 'k'.repeat(16) })).not.toThrow();
  });
});
