import { readFileSync } from 'node:fs';
import { ADAPTERS, ConfigurationError } from '@animal-store/app-kit';
import { describe, expect, test } from 'vitest';
import { readConfiguration, VARIABLES } from './configuration.ts';
import { variables } from './service.ts';

function errorsIn(environment: Record<string, string>): string {
  try {
    readConfiguration(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('accepted');
}

// The package app-kit tests the kinds of values, secrets and storages; the manual has the rules of most variables.

test('has a default for everything', () => {
  const subject = 'STORAGE=memory';
  expect(readConfiguration({})).toEqual({
    ...Object.fromEntries(Object.entries(VARIABLES).map(([name, { fallback, parse }]) => [name, parse(fallback)])),
    CORS_ORIGINS: new Set(),
    storage: { name: 'memory', adapter: ADAPTERS.memory, setting: '', subject, warnings: [] },
    production: false,
    configuredKeys: new Map(),
  });
});

test.each([
  [{ PORT: '0' }, { PORT: 0 }],
  [{ HOST: '::1' }, { HOST: '::1' }],
  [{ BASE_PATH: '/animals/store-2/v1' }, { BASE_PATH: '/animals/store-2/v1' }],
  [{ BASE_PATH: '/~me/a.b_c/v1' }, { BASE_PATH: '/~me/a.b_c/v1' }],
  [{ NODE_ENV: 'Production', STORAGE: 'memory', API_KEYS: 'k'.repeat(16) }, { production: true }],
  [{ NODE_ENV: 'test' }, { production: false }],
  [
    { CORS_ORIGINS: 'https://a.example, http://b.example:8080, http://[::1]:3000' },
    { CORS_ORIGINS: new Set(['https://a.example', 'http://b.example:8080', 'http://[::1]:3000']) },
  ],
  [{ CORS_ORIGINS: '*' }, { CORS_ORIGINS: new Set(['*']) }],
])('understands %o', (environment, expected) => {
  expect(readConfiguration(environment)).toMatchObject(expected);
});

const OTHER_ORIGINS = [
  ...['*,https://a.example', 'example.org', 'https://a.example/', 'https://a.example:123456', 'ftp://http:80'],
  ...['https://a.example http://b.example', 'https://A.example', 'https://a.example:443', 'chrome-https://a.example'],
  ...['https://a_b.example,https://ä.example', 'https://*.a.example'],
];
const OTHER_PATHS = [
  ...['v1', '/', '/v1/', '/v2', '/api', '/a b/v1', '//v1', '/../v1', '/./v1', '/%41/v1', '/:id/v1', '/*/v1', '/V1'],
];

test.each([
  ['PORT', ['65536']],
  ['HOST', ['a b', '[::1]', 'postgres://me:s@h']],
  ['NODE_ENV', ['prod', 'preproduction', 'production-eu']],
  ['LOG_LEVEL', ['loud']],
  ['RATE_LIMIT', ['-1']],
  ['STOP_DEADLINE_SECONDS', ['0']],
  ['TRUST_PROXY', ['true']],
  ['CORS_ORIGINS', OTHER_ORIGINS],
  ['BASE_PATH', OTHER_PATHS],
] as const)('rejects %s=%j with its rule', (name, values) => {
  for (const value of values) {
    expect(errorsIn({ [name]: value })).toContain(`${name} must be ${VARIABLES[name].rule}`);
    expect(errorsIn({ [name]: `"${value}"` })).toBe(`${name} must not be in quotation marks`);
  }
});

test.each([
  ['https://a.example, https://b.example/', 'entry 2 must be https://b.example'],
  ['https://me:s3cret@A.example:443/path', 'entry 1 must be https://a.example'],
  ['https://a.example,', 'entry 2 is none'],
  ['*,https://a.example', 'entry 1 is none'],
])('names the entry of CORS_ORIGINS=%s that is no origin', (CORS_ORIGINS, detail) => {
  expect(errorsIn({ CORS_ORIGINS })).toBe(`CORS_ORIGINS must be ${VARIABLES.CORS_ORIGINS.rule}: ${detail}`);
});

describe('in production', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['a storage, before a key', {}, /^STORAGE must be set if NODE_ENV is production[^;]*$/],
    ['a known storage first', { STORAGE: 'x' }, /^STORAGE must be one of [^;]*$/],
    ['a key, if the storage holds none', { STORAGE: 'memory' }, /^API_KEYS must be set if NODE_ENV is production$/],
    ['a key, beside other errors', { STORAGE: 'memory', PORT: 'x' }, /^PORT must be [^;]*; API_KEYS must be set if/],
    ['a valid key', { STORAGE: 'memory', API_KEYS: 'short' }, /^API_KEYS entry 1 must be [^;]*$/],
    ['the file of keys', { STORAGE: 'memory', API_KEYS_FILE: '/x' }, /^API_KEYS_FILE: the file can't be read: [^;]*$/],
  ])('needs %s', (_, environment, message) => {
    expect(errorsIn({ NODE_ENV: 'production', ...environment })).toMatch(message);
  });

  test('needs no key if the storage may hold some', () => {
    const storage = { name: 'mongodb', setting: 'mongodb://h/d' };
    expect(readConfiguration({ NODE_ENV: 'production', MONGODB_URL: 'mongodb://h/d' })).toMatchObject({ storage });
  });
});

test('docs/settings.md has every variable, with its default and its rule', () => {
  const manual = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const lines = manual.replaceAll('\n  ', ' ').matchAll(/^- `([A-Z_]+)`(?: \((.+?)\))?: (.+?)\. /gm);
  const entries = [...lines].map(([, name = '', fallback = '', rule]) => [name, fallback, rule] as const);
  const names = Object.keys(variables).flatMap((name) => name.split(', '));
  expect(entries.map(([name]) => name).sort()).toEqual(names.sort());
  // The others depend on the storage, or are secrets.
  const expected = Object.entries(VARIABLES).map(([name, { fallback, rule }]) => [name, fallback, rule]);
  expect(entries.filter(([name]) => name in VARIABLES)).toEqual(expected);
});
