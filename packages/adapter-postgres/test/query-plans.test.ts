import { describeWithPostgres, freshDatabase, sql, withOptions } from '@animal-store/test-postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startSession } from '../src/connection/session.ts';
import { TIME_LIMITS } from '../src/index.ts';
import { KEY_SQL } from '../src/keys/postgres-key-store.ts';
import { PET_SQL } from '../src/pets/pet-statements.ts';
import { SCHEMA_SQL } from '../src/schema.ts';
import { openStorage } from './fixtures.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Conflict Arbiter Indexes'?: readonly string[];
  readonly Plans?: readonly Plan[];
}

const allNodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(allNodes)];

/** The plan that a connection of the adapter makes for any values. */
async function planOf(url: string, statement: string): Promise<Plan[]> {
  // The server would compile every plan, as it does those of lists of millions of pets.
  const client = new pg.Client({ connectionString: withOptions(url, '-c jit_above_cost=0') });
  await client.connect();
  onTestFinished(() => client.end());
  await startSession(client, TIME_LIMITS);
  await client.query(`PREPARE statement AS ${statement}`);
  const count = new Set(statement.match(/\$\d/g)).size;
  const values = count > 0 ? `(${Array(count).fill('NULL').join()})` : '';
  const { rows } = await client.query(`EXPLAIN (FORMAT json) EXECUTE statement${values}`);
  const [plan] = rows[0]['QUERY PLAN'];
  expect(plan, 'is compiled for each call').not.toHaveProperty('JIT');
  return allNodes(plan.Plan);
}

/** A new database, or a full one whose statistics are up to date. */
async function preparedDatabase(isFull: boolean): Promise<string> {
  const url = freshDatabase();
  await openStorage(url).ready();
  if (!isFull) return url;
  await sql(
    `INSERT INTO pets
      SELECT n, 'Rex', n, (ARRAY['available', 'sold', NULL])[1 + n % 3], 'h' || n % 9, 'k' || n, 'f' FROM generate_series(1, 20000) AS n;
    INSERT INTO api_keys SELECT left(digest, 16), digest, 'p', 'h', n
      FROM (SELECT n, md5(n::text) || md5(n::text) AS digest FROM generate_series(1, 2000) AS n) AS keys;
    ANALYZE`,
    url,
  );
  return url;
}

/** The indexes of each statement; the arbiters of an insertion are those of its table. */
const INDEXES: readonly (readonly [string, string, readonly string[]])[] = [
  ['a pet', PET_SQL.find, ['pets_pkey']],
  ['a page', PET_SQL.list, ['pets_pkey']],
  ['pages', PET_SQL.listSeveral, ['pets_pkey']],
  ['a page by status', PET_SQL.listByStatus, ['pets_by_status']],
  ['pages by status', PET_SQL.listSeveralByStatus, ['pets_by_status']],
  ['a new pet', PET_SQL.create, ['pets_by_idempotency_key']],
  ['new pets', PET_SQL.createSeveral, ['pets_by_idempotency_key']],
  ['a pet by its idempotency key', PET_SQL.findCreated, ['pets_by_idempotency_key']],
  // A table of one row.
  ['ids', PET_SQL.reserveIds, ['animal_store_pkey', 'pets_pkey']],
  ['a key', KEY_SQL.find, ['api_keys_digest_key']],
  ['all keys', KEY_SQL.list, ['api_keys_by_age']],
  ['a new key', KEY_SQL.add, []],
  ['a revocation', KEY_SQL.revoke, ['api_keys_pkey']],
  ['a use', KEY_SQL.recordUse, ['api_keys_pkey']],
  ['the format', SCHEMA_SQL.format, ['animal_store_pkey']],
  ['the format, for a check', SCHEMA_SQL.lockFormat, ['animal_store_pkey']],
];

describeWithPostgres('an index serves, in a new database and in a full one, the statement', () => {
  test.each(INDEXES)('%s', async (_, statement, indexes) => {
    for (const isFull of [false, true]) {
      const nodes = await planOf(await preparedDatabase(isFull), statement);
      const used = nodes.flatMap((node) => [node['Index Name'] ?? [], node['Conflict Arbiter Indexes'] ?? []].flat());
      expect([...new Set(used)].sort(), JSON.stringify(nodes)).toEqual(indexes);
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
      expect(nodes.map((node) => node['Node Type']).join()).not.toContain('Bitmap');
    }
  });
});
