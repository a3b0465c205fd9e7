import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fingerprint } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { databaseAt, everyPet, fileWith, freshFile, storageAt } from './fixtures.ts';

/** A file as version 1.0 leaves it: four pets created at 1,763,000,000,000, of which the last was deleted, and two API keys. */
const FORMAT_1 = fileURLToPath(new URL('fixtures/format-1.db', import.meta.url));

const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
const zoe = { name: 'Zoe\u0308 🐕', categoryId: 2n ** 63n - 1n };
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
    const storage = await storageAt(file);
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
      [...before[0], [5n, max.name, -1n, 'sold', expect.any(BigInt), 'the zoo', 'k2', fingerprint(max)]],
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
