import { type StorageAdapter, StorageMisconfigured } from '@animal-store/domain/ports';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from './configuration-error.ts';
import { ADAPTERS, chooseStorage, findAdapters, openStorage, variableNames } from './storage.ts';

test('variableNames names what chooses a storage', () => {
  expect(variableNames()).toBe('MONGODB_URL, POSTGRES_URL or SQLITE_FILE');
});

test('finds the adapter of a module, by a path', async () => {
  const STORAGE = freshFile('adapter.mjs', 'export const adapter = { portsVersion: 1, open() {} };');
  const adapter = { portsVersion: 1, open: expect.any(Function) };
  expect(await findAdapters({ STORAGE })).toEqual({ ...ADAPTERS, [STORAGE]: adapter });
});

test('finds the adapter of an installed package, without a warning that its variable has no effect', async () => {
  const STORAGE = '@animal-store/adapter-sqlite/adapter';
  const { chosen, errors } = await read({ STORAGE, SQLITE_FILE: 'a.db' });
  const { adapter, ...rest } = chosen;
  expect(adapter).toMatchObject({ description: 'a SQLite file' });
  expect(errors).toEqual([]);
  expect(rest).toEqual({ name: STORAGE, setting: 'a.db', subject: 'SQLITE_FILE', warnings: [] });
});

test.each([
  ['exports nothing', '', /^STORAGE: \S+ exports no adapter$/],
  ['exports something else', 'export const adapter = null;', /^STORAGE: \S+ exports no adapter$/],
  [
    'is for other ports',
    'export const adapter = { portsVersion: 2, open() {} };',
    /^STORAGE: the adapter of \S+ is for version 2 of the ports, and Animal Store has version 1: install another version /,
  ],
  ['needs a package that is missing', "import 'not-a-driver';", /^STORAGE: \S+ can't be loaded: .*not-a-driver.*$/],
  ['throws', "throw new Error('one\\ntwo');", /^STORAGE: \S+ can't be loaded: one$/],
  ['throws no error', 'throw null;', /^STORAGE: \S+ can't be loaded: null$/],
])('rejects a module that %s, in one line', async (_, text, line) => {
  const found = findAdapters({ STORAGE: freshFile('adapter.mjs', text) });
  await expect(found).rejects.toBeInstanceOf(ConfigurationError);
  await expect(found).rejects.toThrow(line);
});

/** The adapter of a module that STORAGE named, or of a new package. */
const acme: StorageAdapter = {
  ...ADAPTERS.sqlite,
  variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: true },
};

/** Reads which storage an environment names, with an adapter more. */
async function read(environment: Record<string, string>) {
  const errors: string[] = [];
  const adapters = { ...(await findAdapters(environment)), acme };
  return { chosen: chooseStorage(environment, adapters, errors), errors };
}

describe('chooseStorage', () => {
  test.each<[Record<string, string>, object]>([
    [{}, { name: 'memory', adapter: ADAPTERS.memory, setting: '', subject: 'STORAGE=memory', warnings: [] }],
    [{ STORAGE: '', MONGODB_URL: '' }, { name: 'memory' }],
    [{ STORAGE: 'memory', NODE_ENV: 'production' }, { name: 'memory' }],
    [{ MONGODB_URL: 'mongodb://h/d' }, { name: 'mongodb', adapter: ADAPTERS.mongodb, setting: 'mongodb://h/d' }],
    [{ SQLITE_FILE: './a.db' }, { adapter: ADAPTERS.sqlite, setting: './a.db', subject: 'SQLITE_FILE' }],
    [{ SQLITE_FILE: './a.db', NODE_ENV: 'production' }, { name: 'sqlite' }],
    [
      { MONGODB_URL: 'mongodb://h/d', SQLITE_FILE: './a.db', STORAGE: 'mongodb' },
      { subject: 'MONGODB_URL', warnings: ['SQLITE_FILE is set, but has no effect: the storage is mongodb'] },
    ],
    [{ STORAGE: 'sqlite', SQLITE_FILE: 'a b.db', MONGODB_URL: 'mongodb://h/d ' }, { setting: 'a b.db' }],
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
  ])('understands %o', async (environment, expected) => {
    const { chosen, errors } = await read(environment);
    expect(errors).toEqual([]);
    expect(chosen).toMatchObject(expected);
  });

  test.each<[Record<string, string>, string | RegExp]>([
    [
      { STORAGE: 'Memory' },
      `STORAGE must be one of memory, mongodb, postgres, sqlite, acme, or the module of an adapter: it was found neither as a path from ${process.cwd()} nor as a package from ${import.meta.dirname}`,
    ],
    ...['constructor', 'postgres://me:secret@h/d', '@acme/not-installed', './no-such-module.mjs'].map(
      (STORAGE): [Record<string, string>, RegExp] => [{ STORAGE }, /an adapter: it was found neither/],
    ),
    [{ STORAGE: '"sqlite"', SQLITE_FILE: 'x' }, 'STORAGE must not be in quotation marks'],
    ...['x.db\r', 'x.db ', '\ufeffx.db'].map((SQLITE_FILE): [Record<string, string>, string] => [
      { SQLITE_FILE },
      'SQLITE_FILE must not begin or end with white space',
    ]),
    [{ STORAGE: 'mongodb' }, /^MONGODB_URL must be set if STORAGE is mongodb, as in mongodb:\/\//],
    [{ STORAGE: 'sqlite', MONGODB_URL: 'x' }, /^SQLITE_FILE must be set if STORAGE is sqlite/],
    [{ STORAGE: 'acme' }, 'ACME_SHELF must be set if STORAGE is acme, as in shelf:zoo'],
    [
      { NODE_ENV: 'Production' },
      'STORAGE must be set if NODE_ENV is production, unless MONGODB_URL, POSTGRES_URL, SQLITE_FILE or ACME_SHELF is: memory, the default, loses the animals when the process ends',
    ],
    [{ POSTGRES_URL_FILE: '/nowhere' }, /^POSTGRES_URL_FILE: the file can't be read: /],
    [{ SQLITE_FILE: '"a.db"', SQLITE_FILE_FILE: '/nowhere' }, 'SQLITE_FILE must not be in quotation marks'],
    [{ SQLITE_FILE: 'x', MONGODB_URL: 'x' }, 'STORAGE must say which to use: MONGODB_URL and SQLITE_FILE are set'],
  ])('rejects %o', async (environment, message) => {
    const { errors } = await read(environment);
    expect(errors).toEqual([message instanceof RegExp ? expect.stringMatching(message) : message]);
  });
});

const choiceOf = (open: () => unknown) => ({
  name: 'acme',
  adapter: { ...acme, open } as StorageAdapter,
  setting: 'shelf:zoo',
  subject: 'ACME_SHELF',
  warnings: [],
});

const reject = (error: Error) => () => Promise.reject(error);

test.each<[string, () => unknown, string]>([
  ['is misconfigured', reject(new StorageMisconfigured('it must begin with X')), 'ACME_SHELF: it must begin with X'],
  [
    'rejects with another error',
    reject(new TypeError('a defect\nwith details')),
    "ACME_SHELF: the storage can't be opened: a defect",
  ],
  ['resolves to nothing', async () => undefined, 'ACME_SHELF: its adapter opened no storage'],
  ['resolves to something else', async () => ({}), 'ACME_SHELF: its adapter opened no storage'],
])('openStorage rejects an adapter whose open %s, in one line', async (_, open, message) => {
  const opened = openStorage(choiceOf(open));
  await expect(opened).rejects.toThrow(new ConfigurationError(message));
});

test('openStorage adds the warnings of the storage, with the name of the variable', async () => {
  const open = async () => ({ ready() {}, warnings: ['it has no lock'] });
  const { warnings } = await openStorage({ ...choiceOf(open), warnings: ['SQLITE_FILE is set'] });
  expect(warnings).toEqual(['SQLITE_FILE is set', 'ACME_SHELF: it has no lock']);
});

test('openStorage warns of storage in memory, and of a variable without effect', async () => {
  const { warnings } = await openStorage((await read({ STORAGE: 'memory', SQLITE_FILE: 'x.db' })).chosen);
  expect(warnings).toEqual([
    'SQLITE_FILE is set, but has no effect: the storage is memory',
    'the animals are kept in memory, and gone when this process ends: set MONGODB_URL, POSTGRES_URL or SQLITE_FILE to keep them',
  ]);
});
