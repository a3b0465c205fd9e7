import { describe, expect, test } from 'vitest';
import { findMisspelledVariables } from './misspelled-variables.ts';

const KNOWN = [
  'PORT',
  'PROBE_PORT',
  'HOST',
  'BASE_PATH',
  'PUBLIC_URL',
  'STORAGE',
  'LOG_LEVEL',
  'RATE_LIMIT',
  'CORS_ORIGINS',
  'MAX_CONNECTIONS',
  'STOP_GRACE_SECONDS',
  'API_KEYS',
  'MONGODB_URL',
  'SQLITE_FILE',
];

describe('findMisspelledVariables', () => {
  test.each([
    ['MONGO_URL', 'MONGODB_URL'],
    ['MONGODB_URI', 'MONGODB_URL'],
    ['MONGO_URI', 'MONGODB_URL'],
    ['MONGO_DB_URL', 'MONGODB_URL'],
    ['MONGODB_DATABASE', 'MONGODB_URL'],
    ['mongodb_url', 'MONGODB_URL'],
    ['SQLITE_PATH', 'SQLITE_FILE'],
    ['SQLITE_DB', 'SQLITE_FILE'],
    ['SQLITE_FILES', 'SQLITE_FILE'],
    ['RATELIMIT', 'RATE_LIMIT'],
    ['RATE_LIMITS', 'RATE_LIMIT'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['MAX_CONNECTION', 'MAX_CONNECTIONS'],
    ['STORAGES', 'STORAGE'],
    ['API_KEY', 'API_KEYS'],
    ['BASEPATH', 'BASE_PATH'],
    ['STOP_GRACE', 'STOP_GRACE_SECONDS'],
    ['STOP_GRACE_MS', 'STOP_GRACE_SECONDS'],
    ['PUBLIC_URI', 'PUBLIC_URL'],
    ['PROB_PORT', 'PROBE_PORT'],
    ['RATE_LIMTI', 'RATE_LIMIT'],
    ['port', 'PORT'],
  ])('takes %s for %s', (name, meant) => {
    expect(findMisspelledVariables({ [name]: 'x' }, KNOWN)).toEqual([
      `${name} is not a setting: ${meant} is meant, rename or remove it`,
    ]);
  });

  test.each([
    ...KNOWN,
    // Of shells, of Node and npm, of CI.
    'HOME',
    'HOSTNAME',
    'HOSTTYPE',
    'LOGNAME',
    'PATH',
    'PWD',
    'NODE_ENV',
    'NODE_OPTIONS',
    'npm_config_loglevel',
    'npm_package_version',
    'COLORTERM',
    // Kubernetes describes each service to each container.
    'MONGODB_PORT',
    'MONGODB_SERVICE_HOST',
    'MONGODB_SERVICE_PORT',
    'MONGODB_PORT_27017_TCP_ADDR',
    'ANIMAL_STORE_PORT',
    'KUBERNETES_PORT',
    'PROXY_PORT',
    'PROM_PORT',
    'PROOF_PORT',
    // Of other programs.
    'PROBE_HOST',
    'PUBLIC_PATH',
    'PUBLIC_FILE',
    'PUBLIC_DB',
    'BASE_URL',
    // Of MongoDB's own image, and of the tests.
    'MONGO_INITDB_ROOT_USERNAME',
    'MONGO_INITDB_DATABASE',
    'MONGODB_IMAGE',
    'MONGODB_TESTS',
    'TEST_MONGODB_URL',
    'DATABASE_URL',
    'POSTGRES_URL',
  ])('does not take %s for a misspelled setting', (name) => {
    expect(findMisspelledVariables({ [name]: 'x' }, KNOWN)).toEqual([]);
  });

  test('ignores a variable that is empty', () => {
    expect(findMisspelledVariables({ MONGO_URL: '' }, KNOWN)).toEqual([]);
  });

  test('never repeats a value', () => {
    expect(findMisspelledVariables({ API_KEY: 'secret-of-someone' }, KNOWN).join()).not.toContain('secret');
  });
});
