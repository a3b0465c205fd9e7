import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
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

test.each([
  [{}, { PORT: 3000, LEVEL: 'info', HOST: 'localhost' }],
  [
    { PORT: '', LEVEL: '', HOST: '' },
    { PORT: 3000, LEVEL: 'info', HOST: 'localhost' },
  ],
  [
    { PORT: '5', LEVEL: 'warn', HOST: '::1' },
    { PORT: 5, LEVEL: 'warn', HOST: '::1' },
  ],
  [{ PORT: '65535' }, { PORT: 65_535, LEVEL: 'info', HOST: 'localhost' }],
])('readVariables reads %o', (environment, values) => {
  expect(readTable(environment)).toEqual({ ...values, errors: [] });
});

/** Values that belong to another variable. */
const SECRETS = [
  `anst_${'k'.repeat(36)}`,
  'k'.repeat(16),
  'postgres://me:secret@h/d',
  'm://u:pw@h',
  `sha256:${'0'.repeat(64)}`,
];

test.each(SECRETS)('readVariables does not repeat %s, which may be a secret', (secret) => {
  const rule = (name: 'PORT' | 'LEVEL') =>
    `${name} must be ${VARIABLES[name].rule}, was a text of ${secret.length} characters`;
  expect(readTable({ PORT: secret, LEVEL: secret }).errors).toEqual([rule('PORT'), rule('LEVEL')]);
});

test.each([
  [
    'PORT',
    ['4', '65536', '-5', '+80', '5.0', '1e3', '0x10', '1234567890', '٨٠', ' 5', '5 ', '30x'],
    'an integer from 5 to 65535',
    3000,
  ],
  ['LEVEL', ['Info', 'debug'], 'one of info, warn', 'info'],
  ['HOST', ['two words'], 'a host name', 'localhost'],
])('readVariables rejects values of %s with its rule, and reads the fallback: %j', (name, texts, rule, fallback) => {
  for (const text of ['""', "''", `"${texts[0]}"`]) {
    expect(readTable({ [name]: text }).errors).toEqual([`${name} must not be in quotation marks`]);
  }
  for (const text of texts) {
    expect(readTable({ [name]: text })).toMatchObject({
      [name]: fallback,
      errors: [`${name} must be ${rule}, was "${text}"`],
    });
  }
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

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
    const API_KEYS_FILE = join(freshFolder(), 'keys');
    writeFileSync(API_KEYS_FILE, content);
    expect(read({ API_KEYS_FILE }).complete['API_KEYS']).toBe(secret);
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
      const file = join(freshFolder(), 'secret');
      writeFileSync(file, `"${'k'.repeat(16)}"\n`);
      expect(read({ [`${name}_FILE`]: file }).errors).toEqual([`the content of ${name}_FILE ${MARKS}`]);
      expect(read({ [`${name}_FILE`]: `"${file}"` }).errors).toEqual([`${name}_FILE ${MARKS}`]);
    },
  );

  test.each([
    ['two lines', `${'k'.repeat(16)}\n${'l'.repeat(16)}\n`, 'contains white space: separate keys with commas'],
    ['a short key', 'k', 'must be a key of at least 16 visible ASCII characters, its length is 1'],
    ['a digest that is cut off', 'sha256:00', 'must be sha256: and 64 hexadecimal digits'],
  ])('names the file of keys, not the variable, if it holds %s', (_, content, violation) => {
    const API_KEYS_FILE = join(freshFolder(), 'keys');
    writeFileSync(API_KEYS_FILE, content);
    const rejected = () => readEnvironment({ API_KEYS_FILE }, STORAGES, ['API_KEYS'], readApiKeys);
    expect(rejected).toThrow(new ConfigurationError(`API_KEYS_FILE entry 1 ${violation}`));
  });

  test.each(SECRETS)('does not repeat %s, which may be a secret, as the name of a file', (secret) => {
    const { errors } = read({ API_KEYS_FILE: secret });
    expect(errors).toEqual([
      `API_KEYS_FILE: a text of ${secret.length} characters can't be read: no such file or directory`,
    ]);
  });

  test('ignores an empty twin', () => {
    expect(read({ API_KEYS_FILE: '', API_KEYS: 'k' })).toEqual({
      complete: { API_KEYS_FILE: '', API_KEYS: 'k' },
      errors: [],
    });
  });

  test('rejects a secret that is set twice', () => {
    const API_KEYS_FILE = join(freshFolder(), 'keys');
    writeFileSync(API_KEYS_FILE, 'k');
    expect(read({ API_KEYS_FILE, API_KEYS: 'k' }).errors).toEqual([
      'API_KEYS and API_KEYS_FILE are both set: remove one',
    ]);
  });

  test('rejects a file that is missing, a folder or empty, each with its variable and the reason', () => {
    const folder = freshFolder();
    const empty = join(folder, 'empty');
    writeFileSync(empty, '\n');
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
