import { describe, expect, test } from 'vitest';
import { findMisspelledVariables } from './misspelled-variables.ts';

const KNOWN = [
  ...['PORT', 'PROBE_PORT', 'HOST', 'BASE_PATH', 'PUBLIC_URL', 'STORAGE', 'LOG_LEVEL', 'RATE_LIMIT', 'CORS_ORIGINS'],
  ...['MAX_CONNECTIONS', 'STOP_GRACE_SECONDS', 'API_KEYS', 'MONGODB_URL', 'SQLITE_FILE'],
];

describe('findMisspelledVariables', () => {
  test.each([
    ['MONGO_URL', 'MONGODB_URL'],
    ['MONGODB_URI', 'MONGODB_URL'],
    ['MONGO_URI', 'MONGODB_URL'],
    ['mongodb_url', 'MONGODB_URL'],
    ['SQLITE_FILES', 'SQLITE_FILE'],
    ['RATELIMIT', 'RATE_LIMIT'],
    ['LOG_LEVELS', 'LOG_LEVEL'],
    ['API_KEY', 'API_KEYS'],
    ['PROB_PORT', 'PROBE_PORT'],
    ['STOP_GRACE_SECS', 'STOP_GRACE_SECONDS'],
    ['port', 'PORT'],
  ])('takes %s for %s', (name, meant) => {
    expect(findMisspelledVariables({ [name]: 'x' }, KNOWN)).toEqual(new Map([[name, meant]]));
  });

  test.each([
    ...KNOWN,
    // Variables of shells, of Node and npm, of CI.
    ...['HOME', 'HOSTNAME', 'HOSTTYPE', 'LOGNAME', 'PATH', 'PWD', 'NODE_OPTIONS', 'npm_config_loglevel', 'COLORTERM'],
    // Kubernetes describes each service to each container.
    ...['MONGODB_PORT', 'MONGODB_SERVICE_HOST', 'MONGODB_PORT_27017_TCP_ADDR', 'ANIMAL_STORE_PORT', 'KUBERNETES_PORT'],
    // Variables of other programs, of MongoDB's own image, and of the tests.
    ...['DB_HOST', 'DB_PORT', 'PROXY_PORT', 'PROM_PORT', 'PROBE_HOST', 'PUBLIC_PATH', 'BASE_URL', 'DATABASE_URL'],
    ...['MONGO_INITDB_DATABASE', 'MONGODB_IMAGE', 'TEST_MONGODB_URL'],
  ])('does not take %s for a misspelled setting', (name) => {
    expect(findMisspelledVariables({ [name]: 'x' }, KNOWN)).toEqual(new Map());
  });

  test('ignores a variable that is empty', () => {
    expect(findMisspelledVariables({ MONGO_URL: '' }, KNOWN)).toEqual(new Map());
  });
});
