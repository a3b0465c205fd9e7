import type { StorageAdapter } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { type MemoryPolicy, readStorageSettings } from './storage-settings.ts';
import { STORAGES, type Storages, storageChoices } from './storages.ts';

/** The adapter of a module that STORAGE named, or of a new package. */
const acme: StorageAdapter = {
  ...STORAGES.sqlite,
  variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: true },
};

const NAMES = Object.keys(STORAGES).join(', ');
const VARIABLES = storageChoices(STORAGES);

function read(environment: Record<string, string>, memory: MemoryPolicy = 'allowed', storages: Storages = STORAGES) {
  const errors: string[] = [];
  const settings = readStorageSettings(environment, storages, memory, errors);
  return { settings, errors };
}

describe('readStorageSettings', () => {
  test.each<[Record<string, string>, object]>([
    [{}, { name: 'memory', adapter: STORAGES.memory, setting: '' }],
    [{ STORAGE: '', MONGODB_URL: '' }, { name: 'memory' }],
    [{ MONGODB_URL: 'mongodb://h/d' }, { name: 'mongodb', adapter: STORAGES.mongodb, setting: 'mongodb://h/d' }],
    [{ SQLITE_FILE: './a.db' }, { name: 'sqlite', adapter: STORAGES.sqlite, setting: './a.db' }],
    [
      { STORAGE: 'memory', MONGODB_URL: 'mongodb://h/d' },
      {
        name: 'memory',
        setting: '',
        warnings: ['MONGODB_URL is set, but has no effect: the storage is memory'],
      },
    ],
    [{ STORAGE: 'sqlite', SQLITE_FILE: './a.db', MONGODB_URL: 'mongodb://h/d' }, { name: 'sqlite' }],
  ])('understands %o', (environment, expected) => {
    const { settings, errors } = read(environment);
    expect(errors).toEqual([]);
    expect(settings).toMatchObject(expected);
  });

  test.each<[Record<string, string>, MemoryPolicy, string | RegExp]>([
    [
      { STORAGE: 'Memory' },
      'allowed',
      `STORAGE must be one of ${NAMES}, or the module of an adapter: "Memory" was not found from the folder ${process.cwd()}`,
    ],
    [{ STORAGE: 'mongodb' }, 'allowed', /^MONGODB_URL must be set if STORAGE is mongodb, as in mongodb:\/\//],
    [{ STORAGE: 'sqlite', MONGODB_URL: 'x' }, 'allowed', /^SQLITE_FILE must be set if STORAGE is sqlite/],
    [
      { SQLITE_FILE: 'x', MONGODB_URL: 'x' },
      'allowed',
      'STORAGE must say which to use: MONGODB_URL and SQLITE_FILE are set',
    ],
    [{}, 'if named', /^STORAGE must be set if NODE_ENV is production/],
    [{}, 'never', `set ${VARIABLES}: no storage is named, and nothing in memory outlives a command`],
    [{ STORAGE: 'memory' }, 'never', `set ${VARIABLES}: STORAGE is memory, and nothing in memory outlives a command`],
  ])('rejects %o if memory is %s', (environment, memory, message) => {
    const { errors } = read(environment, memory);
    expect(errors).toEqual([message instanceof RegExp ? expect.stringMatching(message) : message]);
  });

  test.each<[Record<string, string>, object, string[]]>([
    [{ ACME_SHELF: 'shelf:zoo' }, { name: 'acme', adapter: acme, setting: 'shelf:zoo' }, []],
    [{ STORAGE: 'acme' }, { name: 'acme' }, ['ACME_SHELF must be set if STORAGE is acme, as in shelf:zoo']],
  ])('knows a further storage of the table in %o', (environment, expected, errors) => {
    const found = read(environment, 'never', { ...STORAGES, acme });
    expect(found).toMatchObject({ settings: expected, errors });
  });

  test.each<[Record<string, string>, MemoryPolicy]>([
    [{ STORAGE: 'memory' }, 'if named'],
    [{ MONGODB_URL: 'mongodb://h/d' }, 'if named'],
    [{ SQLITE_FILE: './a.db' }, 'never'],
  ])('accepts %o if memory is %s', (environment, memory) => {
    expect(read(environment, memory).errors).toEqual([]);
  });
});
