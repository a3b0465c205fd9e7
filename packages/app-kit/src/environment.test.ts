import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, test } from 'vitest';
import { readApiKeys } from './api-keys.ts';
import { ConfigurationError } from './configuration-error.ts';
import { integer, matching, oneOf, readEnvironment, readVariables } from './environment.ts';
import { STORAGES } from './storage.ts';

const VARIABLES = {
  PORT: integer(3000, 5, 65_535),
  LEVEL: oneOf('info', ['info', 'warn']),
  HOST: matching('localhost', /^\S+$/, 'a host name'),
};

function readTable(environment: NodeJS.ProcessEnv) {
  const errors: string[] = [];
  return { ...readVariables(environment, VARIABLES, errors), errors };
}

const DEFAULTS = { PORT: 3000, LEVEL: 'info', HOST: 'localhost' };

test.each([
  [{}, DEFAULTS],
  [{ PORT: '', LEVEL: '', HOST: '' }, DEFAULTS],
  [
    { PORT: '5', LEVEL: 'warn', HOST: '::1' },
    { ...DEFAULTS, PORT: 5, LEVEL: 'warn', HOST: '::1' },
  ],
  [{ PORT: '65535' }, { ...DEFAULTS, PORT: 65_535 }],
])('readVariables reads %o', (environment, values) => {
  expect(readTable(environment)).toEqual({ ...values, errors: [] });
});

/** Values that belong to another variable. */
const SECRETS = [
  ...[`anst_${'k'.repeat(36)}`, 'k'.repeat(16), `sha256:${'0'.repeat(64)}`],
  ...['postgres://me:secret@h/d', 'm://u:pw@h'],
];

test.each(SECRETS)('readVariables does not repeat %s, which may be a secret', (secret) => {
  const rule = (name: 'PORT' | 'LEVEL') =>
    `${name} must be ${VARIABLES[name].rule}, was a text of ${secret.length} characters`;
  expect(readTable({ PORT: secret, LEVEL: secret }).errors).toEqual([rule('PORT'), rule('LEVEL')]);
});

const NO_INTEGERS = ['4', '65536', '-5', '+80', '5.0', '1e3', '0x10', '1234567890', '٨٠', ' 5', '5 ', '30x'];

test.each([
  ['PORT', NO_INTEGERS, 'an integer from 5 to 65535'],
  ['LEVEL', ['Info', 'debug'], 'one of info, warn'],
  ['HOST', ['two words'], 'a host name'],
] as const)('readVariables rejects values of %s with its rule, and reads the fallback: %j', (name, texts, rule) => {
  for (const text of ['""', "''", `"${texts[0]}"`]) {
    expect(readTable({ [name]: text }).errors).toEqual([`${name} must not be in quotation marks`]);
  }
  for (const text of texts) {
    expect(readTable({ [name]: text })).toEqual({ ...DEFAULTS, errors: [`${name} must be ${rule}, was "${text}"`] });
  }
});

const fileOf = (content: string) => freshFile('secret', content);

/** The environment with its secrets, and the errors in it. */
function read(environment: Record<string, string>) {
  return readEnvironment(environment, STORAGES, ['API_KEYS'], (complete, errors) => ({
    complete,
    errors: errors.splice(0),
  }));
}

describe('readEnvironment', () => {
  test('names every error', () => {
    const rejected = () => readEnvironment({}, STORAGES, [], (_, errors) => void errors.push('A must be 1', 'B is x'));
    expect(rejected).toThrow(new ConfigurationError('A must be 1; B is x'));
  });

  test('reads a secret as Kubernetes mounts it', () => {
    const mount = freshFolder();
    mkdirSync(join(mount, '..2026_01_01'));
    writeFileSync(join(mount, '..2026_01_01/url'), 'mongodb://me:secret@h/d');
    symlinkSync('..2026_01_01', join(mount, '..data'));
    symlinkSync('..data/url', join(mount, 'url'));
    const { complete, errors } = read({ PORT: '1', MONGODB_URL_FILE: join(mount, 'url') });
    expect(errors).toEqual([]);
    expect(complete).toMatchObject({ PORT: '1', MONGODB_URL: 'mongodb://me:secret@h/d' });
  });

  test.each([
    ['k1', 'k1'],
    ['k1\n', 'k1'],
    ['k1\r\n', 'k1'],
    ['k1\n\n', 'k1\n'],
    ['k1\nk2\n', 'k1\nk2'],
    [' k1 ', ' k1 '],
  ])('reads %j as %j', (content, secret) => {
    expect(read({ API_KEYS_FILE: fileOf(content) }).complete['API_KEYS']).toBe(secret);
  });

  const MARKS = 'must not be in quotation marks';

  test.each(['API_KEYS', 'MONGODB_URL', 'POSTGRES_URL', 'SQLITE_FILE'])(
    'rejects a value of %s in the quotation marks of an env file',
    (name) => {
      for (const value of ['""', "''", `"${'k'.repeat(16)},${'l'.repeat(16)}"`, "'mongodb://me:secret@h/d'"]) {
        expect(read({ [name]: value }).errors).toEqual([`${name} ${MARKS}`]);
      }
    },
  );

  test.each(['API_KEYS', 'MONGODB_URL', 'POSTGRES_URL'])(
    'rejects quotation marks around the name of the file of %s, and around its content',
    (name) => {
      const file = fileOf(`"${'k'.repeat(16)}"\n`);
      expect(read({ [`${name}_FILE`]: file }).errors).toEqual([`the content of ${name}_FILE ${MARKS}`]);
      expect(read({ [`${name}_FILE`]: `"${file}"` }).errors).toEqual([`${name}_FILE ${MARKS}`]);
    },
  );

  test('names the file of keys, not the variable, if it holds two lines', () => {
    const API_KEYS_FILE = fileOf(`${'k'.repeat(16)}\n${'l'.repeat(16)}\n`);
    const rejected = () => readEnvironment({ API_KEYS_FILE }, STORAGES, ['API_KEYS'], readApiKeys);
    const error = new ConfigurationError('API_KEYS_FILE entry 1 contains white space: separate keys with commas');
    expect(rejected).toThrow(error);
  });

  test.each(SECRETS)('does not repeat %s, which may be a secret, as the name of a file', (secret) => {
    const error = `a text of ${secret.length} characters can't be read: no such file or directory`;
    expect(read({ API_KEYS_FILE: secret }).errors).toEqual([`API_KEYS_FILE: ${error}`]);
  });

  test('ignores an empty twin', () => {
    const environment = { API_KEYS_FILE: '', API_KEYS: 'k' };
    expect(read(environment)).toEqual({ complete: environment, errors: [] });
  });

  test('rejects a secret that is set twice', () => {
    const { errors } = read({ API_KEYS_FILE: fileOf('k'), API_KEYS: 'k' });
    expect(errors).toEqual(['API_KEYS and API_KEYS_FILE are both set: remove one']);
  });

  test('rejects a file that is missing, a folder or empty, each with its variable and the reason', () => {
    const [folder, empty] = [freshFolder(), fileOf('\n')];
    const unread = read({ API_KEYS_FILE: folder, MONGODB_URL_FILE: join(folder, 'nothing') });
    expect(unread.errors).toEqual([
      `API_KEYS_FILE: "${folder}" can't be read: illegal operation on a directory`,
      `MONGODB_URL_FILE: "${join(folder, 'nothing')}" can't be read: no such file or directory`,
    ]);
    const { complete, errors } = read({ API_KEYS_FILE: empty });
    expect(errors).toEqual([`API_KEYS_FILE: "${empty}" is empty`]);
    // No rule about the content adds an error.
    for (const secrets of [unread.complete, complete]) expect(readApiKeys(secrets, errors).size).toBe(1);
    expect(errors).toHaveLength(1);
  });
});
