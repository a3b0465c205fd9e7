import { describe, expect, test } from 'vitest';
import { ConfigurationError } from './configuration-error.ts';
import { readEnvironment } from './read-environment.ts';
import { STORAGES } from './storages.ts';

const read = (environment: Record<string, string>, ...sentences: string[]) =>
  readEnvironment(environment, STORAGES, ['PORT', 'API_KEYS'], ({ PORT }, errors) => {
    errors.push(...sentences);
    return PORT;
  });

describe('readEnvironment', () => {
  test('names every error', () => {
    expect(() => read({}, 'HOST must be 1', 'MONGODB_URL must be set')).toThrow(
      new ConfigurationError('HOST must be 1; MONGODB_URL must be set'),
    );
  });
});
