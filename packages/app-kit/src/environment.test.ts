import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, test } from 'vitest';
import { readApiKeys } from './api-keys.ts';
import { ConfigurationError } from './configuration-error.ts';
import { integer, matching, oneOf, readSettings, readText, readVariables, systemReason } from './environment.ts';

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
  [{ PORT: '', LEVEL: '', HOST: '' }, {}],
  [
    { PORT: '5', LEVEL: 'warn' },
    { PORT: 5, LEVEL: 'warn' },
  ],
  [
    { PORT: '65535', HOST: '::1' },
    { PORT: 65_535, HOST: '::1' },
  ],
])('readVariables reads %o, and defaults of variables that are unset or empty', (environment, values) => {
  expect(readTable(environment)).toEqual({ ...DEFAULTS, ...values, errors: [] });
});

const NO_INTEGERS = ['4', '65536', '-5', '+80', '5.0', '1e3', '0x10', '1234567890', '٨٠', ' 5', '5 ', '30x'];

test.each([
  ['PORT', NO_INTEGERS, 'an integer from 5 to 65535'],
  ['LEVEL', ['Info', 'debug', 'k'.repeat(16), 'postgres://me:secret@h/d'], 'one of info, warn'],
  ['HOST', ['two words'], 'a host name'],
] as const)(
  'readVariables rejects values of %s with its rule, quotes numbers alone, and reads the fallback: %j',
  (name, texts, rule) => {
    for (const text of ['""', "''", `"${texts[0]}"`]) {
      expect(readTable({ [name]: text }).errors).toEqual([`${name} must not be in quotation marks`]);
    }
    for (const text of texts) {
      const error = `${name} must be ${rule}${/^-?\d+$/.test(text) ? `, was ${text}` : ''}`;
      expect(readTable({ [name]: text })).toEqual({ ...DEFAULTS, errors: [error] });
    }
  },
);

test('readSettings names every error once', () => {
  const rejected = () => readSettings((errors) => void errors.push('A must be 1', 'B is x', 'A must be 1'));
  expect(rejected).toThrow(new ConfigurationError('A must be 1; B is x'));
});

describe('readText', () => {
  /** The text of a secret, and the errors. */
  function read(environment: NodeJS.ProcessEnv) {
    const errors: string[] = [];
    return { ...readText(environment, { name: 'URL', secret: true }, errors), errors };
  }

  /** A file as Kubernetes mounts it. */
  function mounted(content: string): string {
    const link = join(freshFolder(), 'url');
    symlinkSync(freshFile('..data', content), link);
    return link;
  }

  test('reads a variable, or the file that another one names, without one line end', () => {
    expect(read({ URL: 'u', URL_FILE: '' })).toEqual({ text: 'u', subject: 'URL', errors: [] });
    expect(read({})).toEqual({ text: '', subject: 'URL', errors: [] });
    const contents = ['k1', 'k1\n', 'k1\r\n', 'k1\n\n', 'k1\nk2\n', ' k1 '];
    const texts = ['k1', 'k1', 'k1', 'k1\n', 'k1\nk2', ' k1 '];
    const secrets = contents.map((content) => read({ URL: '', URL_FILE: mounted(content) }));
    expect(secrets).toEqual(texts.map((text) => ({ text, subject: 'URL_FILE', errors: [] })));
  });

  const [quoted, key] = [`"${'k'.repeat(16)}"`, 'k'.repeat(16)];
  const MARKS = 'must not be in quotation marks';

  test.each<[string, () => NodeJS.ProcessEnv, string]>([
    ['the quotation marks of an env file', () => ({ URL: `'mongodb://me:secret@h/d'` }), `URL ${MARKS}`],
    ['quotation marks alone', () => ({ URL: '""' }), `URL ${MARKS}`],
    ['them in a file', () => ({ URL_FILE: mounted(`${quoted}\n`) }), `the content of URL_FILE ${MARKS}`],
    ['them around the name of a file', () => ({ URL_FILE: quoted }), `URL_FILE ${MARKS}`],
    ['a missing file', () => ({ URL_FILE: '/no' }), `URL_FILE: the file can't be read: no such file or directory`],
    ['a folder', () => ({ URL_FILE: '/' }), `URL_FILE: the file can't be read: illegal operation on a directory`],
    ['an empty file', () => ({ URL_FILE: '/dev/null' }), 'URL_FILE: the file is empty'],
    ['a second value', () => ({ URL: key, URL_FILE: mounted(key) }), 'URL and URL_FILE are both set: remove one'],
    [
      'the text of the secret as the name of a file',
      () => ({ URL_FILE: key }),
      "URL_FILE: the file can't be read: no such file or directory",
    ],
  ])('rejects %s, in one sentence', (_, environment, error) => {
    const { text, errors } = read(environment());
    expect(errors).toEqual([error]);
    // No rule about the text adds an error.
    expect(readApiKeys({ API_KEYS: text }, errors).size).toBe(1);
    expect(errors).toHaveLength(1);
  });
});

test.each<[string, () => unknown, string]>([
  ['a file', () => readFileSync(freshFolder()), 'illegal operation on a directory'],
  ['a host', () => rejectWith({ errno: -3008, syscall: 'getaddrinfo' }), 'unknown node or service'],
  ['Node.js with a positive errno', () => rmSync(freshFolder()), 'Path is a directory: rm returned EISDIR'],
  ['zlib', () => inflateSync(Buffer.from('abc')), 'incorrect header check'],
  ['a client of a database', () => rejectWith({ errno: 1045, syscall: 'connect' }), 'of a database'],
  ['a client with texts', () => rejectWith({ errno: 'ETIMEDOUT', syscall: 'connect' }), 'of a database'],
  ['no Error', () => Promise.reject(null), 'null'],
])('systemReason says in one line why an operation failed, with the error of %s', async (_, fail, reason) => {
  const error = await Promise.resolve()
    .then(fail)
    .catch((rejected: unknown) => rejected);
  expect(systemReason(error)).toContain(reason);
  expect(systemReason(error)).not.toContain('\n');
});

const rejectWith = (members: object) => Promise.reject(Object.assign(new Error('of a database\nand more'), members));
