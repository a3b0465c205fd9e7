import { describe, expect, test } from 'vitest';
import { ConfigurationError } from './configuration-error.ts';
import { readEnvironment } from './read-environment.ts';

const NAMES = ['PORT', 'API_KEYS', 'MONGODB_URL'];

const reject =
  (...sentences: string[]) =>
  (_: unknown, errors: string[]) =>
    void errors.push(...sentences);

describe('readEnvironment', () => {
  test('names every error, without other warnings', () => {
    const environment = { LOG_LEVELS: 'x', API_KEY: 'a-secret-of-someone' };
    expect(() => readEnvironment(environment, NAMES, reject('PORT must be 1', 'MONGODB_URL must be set'))).toThrow(
      new ConfigurationError('PORT must be 1; MONGODB_URL must be set'),
    );
  });

  test('names the misspelled variable that is set instead of a missing one, without its value', () => {
    const environment = { MONGO_URI: 'a-secret', API_KEY: 'another' };
    expect(() => readEnvironment(environment, NAMES, reject('MONGODB_URL must be set'))).toThrow(
      new ConfigurationError('MONGODB_URL must be set; MONGO_URI is not a setting: MONGODB_URL is probably meant'),
    );
  });

  test('warns of misspelled variables if nothing is missing', () => {
    const environment = { API_KEY: 'a-secret', PORT: '1' };
    expect(readEnvironment(environment, NAMES, ({ PORT }) => PORT)).toEqual({
      settings: '1',
      warnings: ['API_KEY is not a setting: API_KEYS is probably meant'],
    });
  });
});
