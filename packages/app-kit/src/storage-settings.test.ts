import type { StorageAdapter } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { readStorageSettings } from './storage-settings.ts';
import { STORAGES } from './storages.ts';

/** The adapter of a module that STORAGE named, or of a new package. */
const acme: StorageAdapter = {
  ...STORAGES.sqlite,
  variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: true },
};

function read(environment: Record<string, string>) {
  const errors: string[] = [];
  const settings = readStorageSettings(environment, { ...STORAGES, acme }, errors);
  return { settings, errors };
}

describe('readStorageSettings', () => {
  test.each<[Record<string, string>, object]>([
    [{}, { name: 'memory', adapter: STORAGES.memory, setting: '', subject: 'STORAGE=memory', warnings: [] }],
    [{ STORAGE: '', MONGODB_URL: '' }, { name: 'memory' }],
    [{ MONGODB_URL: 'mongodb://h/d' }, { name: 'mongodb', adapter: STORAGES.mongodb, setting: 'mongodb://h/d' }],
    [
      { SQLITE_FILE: './a.db' },
      { name: 'sqlite', adapter: STORAGES.sqlite, setting: './a.db', subject: 'SQLITE_FILE' },
    ],
    [{ ACME_SHELF: 'shelf:zoo' }, { name: 'acme', adapter: acme, setting: 'shelf:zoo', warnings: [] }],
    [
      { STORAGE: 'memory', MONGODB_URL: 'mongodb://h/d', SQLITE_FILE: './a.db' },
      {
        name: 'memory',
        setting: '',
        warnings: [
          'MONGODB_URL is set, but has no effect: the storage is memory',
          'SQLITE_FILE is set, but has no effect: the storage is memory',
        ],
      },
    ],
    [
      { STORAGE: 'sqlite', SQLITE_FILE: './a.db', MONGODB_URL: 'mongodb://h/d' },
      { name: 'sqlite', warnings: ['MONGODB_URL is set, but has no effect: the storage is sqlite'] },
    ],
  ])('understands %o', (environment, expected) => {
    const { settings, errors } = read(environment);
    expect(errors).toEqual([]);
    expect(settings).toMatchObject(expected);
  });

  test.each<[Record<string, string>, string | RegExp]>([
    ...['Memory', 'constructor'].map((STORAGE): [Record<string, string>, string] => [
      { STORAGE },
      `STORAGE must be one of memory, mongodb, postgres, sqlite, acme, or the module of an adapter: "${STORAGE}" was found neither as a path from ${process.cwd()} nor among the packages of Animal Store`,
    ]),
    [{ STORAGE: 'mongodb' }, /^MONGODB_URL must be set if STORAGE is mongodb, as in mongodb:\/\//],
    [{ STORAGE: 'sqlite', MONGODB_URL: 'x' }, /^SQLITE_FILE must be set if STORAGE is sqlite/],
    [{ STORAGE: 'acme' }, 'ACME_SHELF must be set if STORAGE is acme, as in shelf:zoo'],
    [{ SQLITE_FILE: 'x', MONGODB_URL: 'x' }, 'STORAGE must say which to use: MONGODB_URL and SQLITE_FILE are set'],
  ])('rejects %o', (environment, message) => {
    expect(read(environment).errors).toEqual([message instanceof RegExp ? expect.stringMatching(message) : message]);
  });
});
