import { expect, test } from 'vitest';
import { integer, matching, oneOf, readVariables } from './settings.ts';

const VARIABLES = {
  PORT: integer(3000, 5, 65_535),
  LEVEL: oneOf('info', ['info', 'warn']),
  HOST: matching('localhost', /^\S+$/, 'a host name'),
};

function read(environment: NodeJS.ProcessEnv) {
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
  expect(read(environment)).toEqual({ ...values, errors: [] });
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
  for (const text of texts) {
    expect(read({ [name]: text })).toMatchObject({
      [name]: fallback,
      errors: [`${name} must be ${rule}, was "${text}"`],
    });
  }
});
