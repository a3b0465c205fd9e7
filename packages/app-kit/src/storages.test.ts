import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigurationError } from './configuration-error.ts';
import { findStorages, STORAGES, storageChoices } from './storages.ts';

/** The path of a module with this text. */
function moduleOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-module-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'adapter.mjs');
  writeFileSync(path, text);
  return path;
}

test('storageChoices names what chooses a storage', () => {
  expect(storageChoices()).toBe('MONGODB_URL, POSTGRES_URL or SQLITE_FILE');
});

test.each([{}, { STORAGE: '' }, { STORAGE: 'sqlite' }, { STORAGE: 'Memory' }, { STORAGE: 'constructor' }])(
  'finds the storages of this repository with %o',
  async (environment) => {
    expect(await findStorages(environment)).toBe(STORAGES);
  },
);

test.each(['@acme/not-installed', './no-such-module.mjs', '/no/such/module.mjs'])(
  'finds no module %s',
  async (STORAGE) => {
    expect(await findStorages({ STORAGE })).toBe(STORAGES);
  },
);

test('finds the adapter of a module, by a path', async () => {
  const path = moduleOf("export const adapter = { portsVersion: 1, description: 'shelves', open() {} };");
  expect(await findStorages({ STORAGE: path })).toEqual({
    ...STORAGES,
    [path]: { portsVersion: 1, description: 'shelves', open: expect.any(Function) },
  });
});

test('finds the adapter of an installed package', async () => {
  const name = '@animal-store/adapter-sqlite/adapter';
  expect((await findStorages({ STORAGE: name }))[name]).toMatchObject({ description: 'a SQLite file' });
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
  const found = findStorages({ STORAGE: moduleOf(text) });
  await expect(found).rejects.toBeInstanceOf(ConfigurationError);
  await expect(found).rejects.toThrow(line);
});
