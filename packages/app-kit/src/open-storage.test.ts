import type { StorageAdapter } from '@animal-store/domain/ports';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { ConfigurationError } from './configuration-error.ts';
import { openNamedStorage, openStorage } from './open-storage.ts';

const settingsOf = (open: () => unknown) => ({
  name: 'acme',
  adapter: {
    portsVersion: 1,
    description: 'shelves',
    variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: true },
    open,
  } as StorageAdapter,
  setting: 'shelf:zoo',
  subject: 'ACME_SHELF',
  warnings: [],
});

test.each<[string, () => unknown, string]>([
  [
    'is misconfigured',
    () => Promise.reject(new StorageMisconfigured('it must begin with shelf:')),
    'ACME_SHELF: it must begin with shelf:',
  ],
  [
    'throws another error',
    () => {
      throw new TypeError('one is not a function');
    },
    "ACME_SHELF: the storage can't be opened: one is not a function",
  ],
  ['resolves to nothing', async () => undefined, 'ACME_SHELF: its adapter opened no storage'],
  ['resolves to something else', async () => ({}), 'ACME_SHELF: its adapter opened no storage'],
])('openStorage rejects an adapter whose open %s, in one line', async (_, open, message) => {
  const opened = openStorage(settingsOf(open));
  await expect(opened).rejects.toBeInstanceOf(ConfigurationError);
  await expect(opened).rejects.toThrow(new ConfigurationError(message));
});

test('openStorage adds the warnings of the storage, with the name of the variable', async () => {
  const open = async () => ({ ready() {}, warnings: ['it has no lock'] });
  const { warnings } = await openStorage({ ...settingsOf(open), warnings: ['SQLITE_FILE is set'] });
  expect(warnings).toEqual(['SQLITE_FILE is set', 'ACME_SHELF: it has no lock']);
});

test('openNamedStorage warns of storage in memory, and of a variable without effect', async () => {
  const { warnings } = await openNamedStorage({ STORAGE: 'memory', SQLITE_FILE: 'x.db' });
  expect(warnings).toEqual([
    'SQLITE_FILE is set, but has no effect: the storage is memory',
    'the animals are kept in memory, and gone when this process ends: set MONGODB_URL, POSTGRES_URL or SQLITE_FILE to keep them',
  ]);
  const { storage, warnings: none } = await openNamedStorage({ POSTGRES_URL: 'postgres://127.0.0.1:1/animals' });
  await storage.close();
  expect(none).toEqual([]);
});
