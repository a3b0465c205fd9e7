import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fingerprint } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo, databaseAt, everyPet, fileWith, freshFile, storageAt } from './fixtures.ts';

/** A file as version 1.0 leaves it: four pets, of which the last was deleted, and two API keys. */
const FORMAT_1 = fileURLToPath(new URL('fixtures/format-1.db', import.meta.url));

const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
const zoe = { name: 'Zoe\u0308 \u0000 🐕', categoryId: 2n ** 63n - 1n };
const max = { name: 'Max', categoryId: -1n, status: 'sold' } as const;
const idempotent = { holder: 'the zoo', key: 'k1', fingerprint: fingerprint(zoe) };

const apiKey = (digits: string) => ({
  id: digits.repeat(8),
  digest: digits.repeat(32),
  visiblePrefix: 'anst_0000',
  holder: 'the zoo',
  createdAt: 1_763_000_000_000,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
});
const revokedKey = {
  ...apiKey('cd'),
  createdAt: 1_763_000_000_001,
  expiresAt: 1_900_000_000_000,
  revokedAt: 1_763_000_000_003,
  lastUsedAt: 1_763_000_000_002,
};

const schemaOf = (file: string) =>
  databaseAt(file).prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all();

/** All pets and API keys, read by plain SQL like the version that wrote them. */
function rowsOf(file: string): [pets: unknown[], keys: unknown[]] {
  const db = databaseAt(file, { readBigInts: true, returnArrays: true });
  const rows = (table: string) => db.prepare(`SELECT * FROM ${table} ORDER BY id`).all();
  return [rows('pets'), rows('api_keys')];
}

describe('a file of the published format 1', () => {
  test('has its pets, idempotency keys and API keys, and accepts more', async () => {
    const file = freshFile();
    copyFileSync(FORMAT_1, file);
    const before = rowsOf(file);
    const storage = storageAt(file);
    const stored = [
      { id: 1n, ...rex },
      { id: 2n, ...zoe },
      { id: 3n, ...max },
    ];
    expect(await everyPet(storage)).toEqual(stored);
    expect(await storage.keys.list()).toEqual([apiKey('ab'), revokedKey]);
    expect(await storage.pets.add(zoe, idempotent)).toEqual({ pet: stored[1], created: false });
    expect(await storage.pets.add(rex, { ...idempotent, fingerprint: fingerprint(rex) })).toBeNull();
    // The id of the deleted pet is not assigned again.
    expect(await storage.pets.add(max, { ...idempotent, key: 'k2', fingerprint: fingerprint(max) })).toEqual({
      pet: { id: 5n, ...max },
      created: true,
    });
    await storage.keys.add(apiKey('ef'));
    await storage.close();

    const key = ['ef'.repeat(8), 'ef'.repeat(32), 'anst_0000', 'the zoo', 1_763_000_000_000n, null, null, null];
    expect(rowsOf(file)).toEqual([
      [...before[0], [5n, max.name, -1n, 'sold', 'the zoo', 'k2', fingerprint(max)]],
      [...before[1], key],
    ]);
  });

  test('has the schema of a new file', async () => {
    expect(schemaOf(await fileWith(0))).toEqual(schemaOf(FORMAT_1));
  });
});

test('the schema calls only functions that SQLite 3.40 has, for the sqlite3 of Debian 12', () => {
  const called = schemaOf(FORMAT_1).flatMap(({ sql }) => String(sql).match(/\b[a-z_]+(?=\()/g) ?? []);
  expect(new Set(called)).toEqual(new Set(['sqlite_sequence', 'length', 'substr']));
});

describe('an upgrade of the file by a newer version', () => {
  /** The next format may add columns, tables and indexes. */
  const EXPAND = `
    ALTER TABLE pets ADD COLUMN born_at INTEGER;
    ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'all';
    CREATE INDEX pets_by_birth ON pets (born_at);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, pet_id INTEGER NOT NULL) STRICT;
    PRAGMA user_version = 2;
  `;

  /** The format after that may remove them. */
  const CONTRACT = `
    ALTER TABLE pets RENAME COLUMN name TO called;
    ALTER TABLE api_keys RENAME COLUMN holder TO zoo;
    PRAGMA user_version = 3;
  `;

  test('lets processes continue and start if it is to the next format', async () => {
    const file = freshFile();
    const [running, idle, neverUsed] = [storageAt(file), storageAt(file), storageAt(file)];
    const first = await addTo(running, rex);
    await idle.ready();
    const other = databaseAt(file);
    other.exec(EXPAND);
    for (const storage of [running, idle, neverUsed, storageAt(file)]) {
      await storage.ready();
      expect((await addTo(storage, zoe, idempotent))?.id).toBe(2n);
      expect(await everyPet(storage)).toEqual([first, { id: 2n, ...zoe }]);
      await storage.keys.add(apiKey('ab'));
      expect(await storage.keys.list()).toEqual([apiKey('ab')]);
    }
    expect(other.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 });
  });

  test('makes processes unready, with the reason, if it is to the format after the next', async () => {
    const file = freshFile();
    const [running, neverUsed] = [storageAt(file), storageAt(file)];
    await addTo(running, rex);
    const other = databaseAt(file);
    other.exec(EXPAND + CONTRACT);
    for (const storage of [running, neverUsed]) {
      for (const call of [storage.ready, () => addTo(storage, zoe), () => everyPet(storage), storage.keys.list]) {
        await expect((async () => call())()).rejects.toMatchObject({
          code: 'storage_unavailable',
          cause: {
            name: 'StorageMisconfigured',
            message: `${file} cannot be used: its format is 3, and this version of Animal Store works with formats up to 2: start a newer version`,
          },
        });
      }
    }
    expect(other.prepare('SELECT count(*) AS count FROM pets').get()).toEqual({ count: 1 });
  });
});

test('opening rejects a file of a newer format, and leaves it unchanged', async () => {
  const file = await fileWith(0);
  const db = databaseAt(file);
  db.exec('PRAGMA user_version = 1000');
  db.close();
  const before = readFileSync(file);
  expect(() => createSqliteStorage({ file })).toThrow(
    expect.objectContaining({
      name: 'StorageMisconfigured',
      message: `${file} cannot be used: its format is 1000, and this version of Animal Store works with formats up to 2: start a newer version`,
    }),
  );
  expect(readFileSync(file).equals(before)).toBe(true);
});
