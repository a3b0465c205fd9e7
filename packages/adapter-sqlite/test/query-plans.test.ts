import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { KEY_SQL } from '../src/keys/key-statements.ts';
import { PET_SQL } from '../src/pets/pet-statements.ts';
import { freshFile } from './fresh-file.ts';

async function planOf(sql: string): Promise<string[]> {
  const file = freshFile();
  await createSqliteStorage({ file }).close();
  const db = new DatabaseSync(file);
  onTestFinished(() => db.close());
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return rows.map(({ detail }) => String(detail));
}

describe('every statement is served by an index alone: no scan of a table, no sort', () => {
  test.each<[string, string, string[]]>([
    ['a pet', PET_SQL.find, ['SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)']],
    ['a page', PET_SQL.list, ['SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)']],
    ['a page by status', PET_SQL.listByStatus, ['SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)']],
    [
      'a pet by its idempotency key',
      PET_SQL.findCreated,
      ['SEARCH pets USING INDEX pets_by_idempotency_key (idempotency_holder=? AND idempotency_key=?)'],
    ],
    ['a new pet', PET_SQL.create, []],
    ['a key', KEY_SQL.find, ['SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_2 (digest=?)']],
    ['a key by its id', KEY_SQL.findById, ['SEARCH api_keys USING PRIMARY KEY (id=?)']],
    // All of it is wanted.
    ['all keys', KEY_SQL.list, ['SCAN api_keys USING INDEX api_keys_by_age']],
    ['a new key', KEY_SQL.add, []],
    ['a revocation', KEY_SQL.revoke, ['SEARCH api_keys USING PRIMARY KEY (id=?)']],
    ['a use', KEY_SQL.recordUse, ['SEARCH api_keys USING PRIMARY KEY (id=?)']],
  ])('%s', async (_, sql, plan) => {
    expect(await planOf(sql)).toEqual(plan);
  });
});
