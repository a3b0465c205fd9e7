import { expect, test } from 'vitest';
import { ARCHIVE_SQL } from '../src/archive.ts';
import { KEY_SQL } from '../src/keys.ts';
import { PET_SQL } from '../src/pets.ts';
import { databaseAt, fileWith } from './fixtures.ts';

test('every statement uses an index alone, without a scan of a table or a sort', async () => {
  const db = databaseAt(await fileWith(100));
  // With these statistics SQLite would search pages by status in the whole table.
  db.exec("UPDATE pets SET status = 'sold'; ANALYZE");
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
