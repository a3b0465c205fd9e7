import { describeWithPostgres, sql, withOptions } from '@animal-store/test-servers/postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { ARCHIVE_STATEMENTS } from '../src/archive.ts';
import { KEY_STATEMENTS } from '../src/keys.ts';
import { PET_STATEMENTS } from '../src/pets.ts';
import { LOCK_STATE } from '../src/schema.ts';
import { startSession } from '../src/session.ts';
import { freshStorage } from './fixtures.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Sort Key'?: readonly string[];
  readonly 'Conflict Arbiter Indexes'?: readonly string[];
  readonly Plans?: readonly Plan[];
}

const allNodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(allNodes)];

/** The plan that a connection of the adapter makes for any values. */
async function planOf(url: string, text: string): Promise<Plan[]> {
  // The server would compile every plan, as it does those of lists of millions of pets.
  const client = new pg.Client({ connectionString: withOptions(url, '-c jit_above_cost=0') });
  await client.connect();
  onTestFinished(() => client.end());
  await startSession(client);
  await client.query(`PREPARE statement AS ${text}`);
  const count = new Set(text.match(/\$\d/g)).size;
  const values = count > 0 ? `(${Array(count).fill('NULL').join()})` : '';
  const { rows } = await client.query(`EXPLAIN (FORMAT json) EXECUTE statement${values}`);
  const [plan] = rows[0]['QUERY PLAN'];
  expect(plan, 'is compiled for each call').not.toHaveProperty('JIT');
  return allNodes(plan.Plan);
}

/** A new database, or a full one whose statistics are up to date. */
async function preparedDatabase(isFull: boolean): Promise<string> {
  const { url } = await freshStorage();
  if (!isFull) return url;
  await sql(
    `INSERT INTO pets (name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint)
      SELECT 'Rex', n, (ARRAY['available', 'sold', NULL])[1 + n % 3], 'h' || n % 9, 'k' || n, 'f'
      FROM generate_series(1, 20000) AS n;
    INSERT INTO api_keys SELECT left(digest, 16), digest, 'p', 'h', now()
      FROM (SELECT md5(n::text) || md5(n::text) AS digest FROM generate_series(1, 2000) AS n) AS keys;
    ANALYZE`,
    url,
  );
  return url;
}

const { create, find, list, listByStatus, findEarlier } = PET_STATEMENTS;

/** The indexes of each statement; the arbiters of an insertion are those of its table. */
const INDEXES: readonly (readonly [string, string, readonly string[]])[] = [
  ...(['one', 'each'] as const).flatMap((form) => [
    [`pets: ${form}`, find[form].text, ['pets_pkey']] as const,
    [`pages: ${form}`, list[form].text, ['pets_pkey']] as const,
    [`pages by status: ${form}`, listByStatus[form].text, ['pets_by_status']] as const,
    [`pets by their idempotency keys: ${form}`, findEarlier[form].text, ['pets_by_idempotency_key']] as const,
    [`new pets: ${form}`, create[form].text, ['pets_by_idempotency_key']] as const,
  ]),
  ['pets to be moved', ARCHIVE_STATEMENTS.read.text, ['pets_pkey']],
  ['a key', KEY_STATEMENTS.find.text, ['api_keys_digest_key']],
  ['all keys', KEY_STATEMENTS.list.text, ['api_keys_by_age']],
  ['a new key', KEY_STATEMENTS.add.text, []],
  ['a revocation', KEY_STATEMENTS.revoke.text, ['api_keys_pkey']],
  ['a use', KEY_STATEMENTS.recordUse.text, ['api_keys_pkey']],
];

describeWithPostgres('an index serves every statement', () => {
  test.each([false, true])('in a database with many rows: %s', async (isFull) => {
    const url = await preparedDatabase(isFull);
    for (const [name, text, indexes] of INDEXES) {
      const nodes = await planOf(url, text);
      const used = nodes.flatMap((node) => [node['Index Name'] ?? [], node['Conflict Arbiter Indexes'] ?? []].flat());
      expect([...new Set(used)].sort(), `${name}: ${JSON.stringify(nodes)}`).toEqual(indexes);
      const types = nodes.map((node) => node['Node Type']).join();
      expect(types, name).not.toMatch(/Seq Scan|Bitmap/);
    }
  });
});

describeWithPostgres('a statement', () => {
  test('checks the state by a lock, which a server that cannot be written to rejects', async () => {
    const nodes = await planOf(await preparedDatabase(true), LOCK_STATE.text);
    expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toContain('animal_store_pkey');
    expect(nodes.map((node) => node['Node Type'])).toContain('LockRows');
  });

  test('locks idempotency keys in one order, so that processes that repeat them cannot deadlock', async () => {
    const nodes = await planOf(await preparedDatabase(false), create.each.text);
    const sorted = nodes.map((node) => node['Sort Key']?.map((key) => key.replace(/^.*\./, '')));
    expect(sorted).toContainEqual(['holder', 'key', 'id']);
  });
});
