import { describe, expect, test } from 'vitest';
import { ConfigurationError } from './configuration-error.ts';
import { readEnvironment, variableNames } from './read-environment.ts';
import { STORAGES } from './storages.ts';

const { mongodb, sqlite } = STORAGES;

const read = (environment: Record<string, string>, ...sentences: string[]) =>
  readEnvironment(environment, STORAGES, ['PORT', 'API_KEYS'], ({ PORT }, errors) => {
    errors.push(...sentences);
    return PORT;
  });

test('a secret has a twin that names a file, another setting has none', () => {
  expect(variableNames(['PORT', 'API_KEYS'], { mongodb, sqlite })).toEqual([
    ...['PORT', 'API_KEYS', 'STORAGE', 'MONGODB_URL', 'SQLITE_FILE', 'API_KEYS_FILE', 'MONGODB_URL_FILE'],
  ]);
});

describe('readEnvironment', () => {
  test('names every error', () => {
    expect(() => read({}, 'HOST must be 1', 'MONGODB_URL must be set')).toThrow(
      new ConfigurationError('HOST must be 1; MONGODB_URL must be set'),
    );
  });
});
