import { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '@animal-store/domain';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo } from './add-to.ts';
import { freshFile } from './fresh-file.ts';

/** What version 1 of the schema was. */
const VERSION_1 = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 9007199254740991),
    name TEXT NOT NULL CHECK (length(name) <= 200 AND octet_length(name) BETWEEN 1 AND 800),
    category_id INTEGER NOT NULL,
    status TEXT CHECK (status IN ('available', 'pending', 'sold')),
    addition_holder TEXT,
    addition_key TEXT CHECK (octet_length(addition_key) BETWEEN 1 AND 255),
    addition_fingerprint TEXT,
    CHECK ((addition_holder IS NULL) = (addition_key IS NULL)),
    CHECK ((addition_holder IS NULL) = (addition_fingerprint IS NULL))
  ) STRICT;
  CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;
  CREATE UNIQUE INDEX pets_by_addition ON pets (addition_holder, addition_key) WHERE addition_key IS NOT NULL;
  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY CHECK (id = substr(digest, 1, 16)),
    digest TEXT NOT NULL UNIQUE CHECK (octet_length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
    visible_prefix TEXT NOT NULL,
    holder TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_keys_by_age ON api_keys (created_at, id);
  PRAGMA application_id = ${0x416e5374};
  PRAGMA user_version = 1;
`;

function databaseAt(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

const schemaOf = (file: string) =>
  databaseAt(file)
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'sqlite_sequence' ORDER BY type, name")
    .all();

describe('a file with version 1 of the schema', () => {
  test('has its pets, idempotency keys and API keys after the migration, and assigns higher ids', async () => {
    const file = freshFile();
    const db = databaseAt(file);
    db.exec(VERSION_1);
    const longestName = '🐕'.repeat(LIMITS.name.maxLength);
    const digest = 'ab'.repeat(32);
    db.prepare("INSERT INTO pets VALUES (3, ?, ?, 'sold', 'the zoo', 'k', 'f')").run(longestName, 2n ** 63n - 1n);
    db.exec(`
      INSERT INTO pets VALUES (7, char(0), -1, NULL, NULL, NULL, NULL);
      INSERT INTO pets VALUES (9, 'gone', 1, NULL, NULL, NULL, NULL);
      DELETE FROM pets WHERE id = 9;
      INSERT INTO api_keys VALUES ('${digest.slice(0, 16)}', '${digest}', 'anst_0000', 'the zoo', 1, NULL, NULL, 5);
    `);
    db.close();

    const storage = createSqliteStorage({ file });
    onTestFinished(() => storage.close() as Promise<void>);
    const sold = { id: 3n, name: longestName, categoryId: 2n ** 63n - 1n, status: 'sold' as const };
    const pets = [sold, { id: 7n, name: '\0', categoryId: -1n }];
    expect(await storage.pets.list({ after: 0n, limit: 10 })).toEqual(pets);
    expect(await storage.pets.list({ status: 'sold', after: 0n, limit: 10 })).toEqual([sold]);
    expect(await addTo(storage.pets, sold, { holder: 'the zoo', key: 'k', fingerprint: 'f' })).toEqual(sold);
    expect(await addTo(storage.pets, sold, { holder: 'the zoo', key: 'k', fingerprint: 'g' })).toBeNull();
    expect((await addTo(storage.pets, sold))?.id).toBeGreaterThan(9n);
    expect(await storage.keys.find(digest)).toMatchObject({ holder: 'the zoo', lastUsedAt: 5 });
    expect(databaseAt(file).prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  test('has the schema of a new file, and is migrated while another program has it open', async () => {
    const [migrated, created] = [freshFile(), freshFile()];
    const other = databaseAt(migrated);
    other.exec(VERSION_1);
    for (const file of [migrated, created]) await createSqliteStorage({ file }).close();
    expect(schemaOf(migrated)).toEqual(schemaOf(created));
    expect(other.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 });
    other.exec("INSERT INTO pets (name, category_id, idempotency_key) VALUES ('Rex', 1, NULL)");
    expect(() => other.exec("INSERT INTO pets (name, category_id) VALUES ('', 1)")).toThrow('CHECK constraint failed');
  });
});

test('the schema calls only functions that SQLite 3.40 has, for the sqlite3 of Debian 12', async () => {
  const file = freshFile();
  await createSqliteStorage({ file }).close();
  const called = schemaOf(file).flatMap(({ sql }) => String(sql).match(/\b[a-z_]+(?=\()/g) ?? []);
  expect(new Set(called)).toEqual(new Set(['length', 'substr']));
});
