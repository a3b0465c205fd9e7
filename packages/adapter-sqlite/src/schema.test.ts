import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ARCHIVE_SQL } from './archive.ts';
import { KEY_SQL } from './keys.ts';
import { PET_SQL } from './pets.ts';
import { SCHEMA, timeOf } from './schema.ts';

describe('the schema', () => {
  test('calls only functions that SQLite 3.40 has, for the sqlite3 of Debian 12', () => {
    const called = SCHEMA.match(/\b[a-z]+(?=\()/g);
    expect(new Set(called)).toEqual(new Set(['length', 'substr']));
  });

  test('has an index for every statement, so that none scans a table or sorts', () => {
    const db = new DatabaseSync(':memory:');
    onTestFinished(() => db.close());
    db.exec(SCHEMA);
    db.exec(`WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 100)
      INSERT INTO pets (name, category_id, status, created_at) SELECT 'Rex', 7, 'sold', 0 FROM numbers`);
    // With these statistics SQLite would search pages by status in the whole table.
    db.exec('ANALYZE');
    const planOf = ([name, sql]: [string, string]) => {
      const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      return [name, rows.map(({ detail }) => detail).join()];
    };
    expect(Object.fromEntries(Object.entries({ ...PET_SQL, read: ARCHIVE_SQL.read }).map(planOf))).toEqual({
      create: '',
      findCreated: 'SEARCH pets USING INDEX pets_by_idempotency_key (idempotency_holder=? AND idempotency_key=?)',
      find: 'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)',
      list: 'SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)',
      listByStatus: 'SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)',
      read: 'SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)',
    });
    expect(Object.fromEntries(Object.entries(KEY_SQL).map(planOf))).toEqual({
      add: '',
      find: 'SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_2 (digest=?)',
      findById: 'SEARCH api_keys USING PRIMARY KEY (id=?)',
      list: 'SEARCH api_keys USING PRIMARY KEY (id>?)',
      revoke: 'SEARCH api_keys USING PRIMARY KEY (id=?)',
      recordUse: 'SEARCH api_keys USING PRIMARY KEY (id=?)',
    });
  });
});

test.each([
  [0n, 0],
  [8_640_000_000_000_000n, 8.64e15],
  [8_640_000_000_000_001n, 8.64e15],
  [2n ** 63n - 1n, 8.64e15],
  [-(2n ** 63n), -8.64e15],
])('the stored time %s is the date %s, or the farthest one', (stored, time) => {
  expect(timeOf(stored)).toBe(time);
  expect(new Date(time).getTime()).toBe(time);
});
