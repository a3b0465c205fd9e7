import { ConfigurationError, STORAGES } from '@animal-store/app-kit';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from './configuration.ts';

function errorsIn(environment: Record<string, string>): string {
  try {
    readConfiguration(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('accepted');
}

test('has a default for everything', () => {
  expect(readConfiguration({})).toEqual({
    HOST: '127.0.0.1',
    PORT: 3000,
    BASE_PATH: '/v1',
    storage: { name: 'memory', adapter: STORAGES.memory, setting: '', subject: 'STORAGE=memory', warnings: [] },
    production: false,
    configuredKeys: new Map(),
    LOG_LEVEL: 'info',
    CORS_ORIGINS: new Set(),
    RATE_LIMIT: 0,
    STOP_DEADLINE_SECONDS: 10,
    NODE_ENV: 'development',
    MAX_CONNECTIONS: 10_000,
    TRUST_PROXY: 0,
  });
});

test.each([
  [{ PORT: '0' }, { PORT: 0 }],
  [{ PORT: '65535' }, { PORT: 65_535 }],
  [{ HOST: '::1' }, { HOST: '::1' }],
  [{ BASE_PATH: '/animals/store-2/v1' }, { BASE_PATH: '/animals/store-2/v1' }],
  [{ BASE_PATH: '/~me/a.b_c/v1' }, { BASE_PATH: '/~me/a.b_c/v1' }],
  [{ NODE_ENV: 'Production', STORAGE: 'memory', API_KEYS: 'k'.repeat(16) }, { production: true }],
  [{ NODE_ENV: 'test' }, { production: false }],
  [
    { NODE_ENV: 'production', API_KEYS: 'k'.repeat(16), MONGODB_URL: 'mongodb://h/d' },
    { storage: { name: 'mongodb', setting: 'mongodb://h/d' } },
  ],
  [
    { CORS_ORIGINS: 'https://a.example, http://b.example:8080, http://[::1]:3000' },
    { CORS_ORIGINS: new Set(['https://a.example', 'http://b.example:8080', 'http://[::1]:3000']) },
  ],
  [{ CORS_ORIGINS: '*' }, { CORS_ORIGINS: new Set(['*']) }],
])('understands %o', (environment, expected) => {
  expect(readConfiguration(environment)).toMatchObject(expected);
});

test.each<[Record<string, string>, string | RegExp]>([
  [{ PORT: '65536' }, 'PORT must be an integer from 0 to 65535, was "65536"'],
  [{ CORS_ORIGINS: '*,https://a.example' }, /, or \* alone, was "\*,https:\/\/a.example"$/],
  ...[
    ...['example.org', 'https://a.example/', 'https://a.example:123456', 'https://a.example http://b.example'],
    ...[
      'https://A.example',
      'https://a.example:443',
      'https://a_b.example,https://ä.example',
      'chrome-https://a.example',
      'ftp://http:80',
    ],
  ].map((origins): [Record<string, string>, RegExp] => [
    { CORS_ORIGINS: origins },
    /^CORS_ORIGINS must be origins as browsers send them/,
  ]),
  [{ RATE_LIMIT: '-1' }, /^RATE_LIMIT must be an integer from 0/],
  [{ TRUST_PROXY: 'true' }, /^TRUST_PROXY must be an integer from 0 to 10/],
  [{ STOP_DEADLINE_SECONDS: '0' }, /^STOP_DEADLINE_SECONDS must be an integer from 1 to 300/],
  [{ HOST: 'a b' }, 'HOST must be a host name or address, was "a b"'],
  ...['HOST', 'CORS_ORIGINS', 'NODE_ENV', 'MAX_CONNECTIONS'].map((name): [Record<string, string>, string] => [
    { [name]: '"::"' },
    `${name} must not be in quotation marks`,
  ]),
  [{ STORAGE: 'mongodb' }, /^MONGODB_URL must be set if STORAGE is mongodb/],
  [{ NODE_ENV: 'production', API_KEYS: 'k'.repeat(16) }, /^STORAGE must be set if NODE_ENV is production/],
  ...['prod', 'preproduction', 'production-eu'].map((given): [Record<string, string>, string] => [
    { NODE_ENV: given },
    `NODE_ENV must be one of development, production, test, was "${given}"`,
  ]),
  [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, was "loud"$/],
  ...['v1', '/', '/v1/', '/v2', '/api', '/a b/v1', '//v1', '/../v1', '/./v1', '/%41/v1', '/:id/v1', '/*/v1', '/V1'].map(
    (path): [Record<string, string>, RegExp] => [{ BASE_PATH: path }, /^BASE_PATH must be a path/],
  ),
])('rejects %o', (environment, message) => {
  expect(errorsIn(environment)).toEqual(message instanceof RegExp ? expect.stringMatching(message) : message);
});

test('names all errors in one message', () => {
  const message = errorsIn({ PORT: 'x', BASE_PATH: 'x', STORAGE: 'x', API_KEYS: 'x', LOG_LEVEL: 'x' });
  for (const name of ['PORT', 'BASE_PATH', 'STORAGE', 'API_KEYS', 'LOG_LEVEL']) expect(message).toContain(name);
  expect(message).not.toContain('\n');
});

describe('in production', () => {
  const production = { NODE_ENV: 'production', STORAGE: 'memory', API_KEYS: 'k'.repeat(16) };

  test('needs a key, unless the storage may hold some', () => {
    expect(errorsIn({ ...production, API_KEYS: '' })).toMatch(/^API_KEYS must be set/);
    expect(errorsIn({ ...production, API_KEYS: 'short' })).toMatch(/^API_KEYS entry 1 must be [^;]*$/);
    expect(errorsIn({ NODE_ENV: 'production' })).toMatch(/^STORAGE must be set [^;]*$/);
    const issued = { NODE_ENV: 'production', MONGODB_URL: 'mongodb://h/d' };
    expect(() => readConfiguration(issued)).not.toThrow();
  });

  test('names a missing key beside other errors, unless the storage is unknown', () => {
    expect(errorsIn({ NODE_ENV: 'production', STORAGE: 'memory', PORT: 'x' })).toMatch(
      /^PORT must be [^;]*; API_KEYS must be set if NODE_ENV is production$/,
    );
    expect(errorsIn({ NODE_ENV: 'production', STORAGE: 'x' })).toMatch(/^STORAGE must be one of [^;]*$/);
  });

  test('names only the file of a secret that is missing', () => {
    expect(errorsIn({ NODE_ENV: 'production', MONGODB_URL_FILE: '/x' })).toBe(
      'MONGODB_URL_FILE: "/x" can\'t be read: no such file or directory',
    );
    expect(errorsIn({ NODE_ENV: 'production', STORAGE: 'memory', API_KEYS_FILE: '/x' })).toBe(
      'API_KEYS_FILE: "/x" can\'t be read: no such file or directory',
    );
  });
});
