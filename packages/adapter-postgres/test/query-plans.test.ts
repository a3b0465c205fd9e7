import { describeWithPostgres, sql, withOptions } from '@animal-store/test-servers/postgres';
import { expect, test } from 'vitest';
import { ARCHIVE_STATEMENTS } from '../src/archive.ts';
import { KEY_STATEMENTS } from '../src/keys.ts';
import { PET_STATEMENTS } from '../src/pets.ts';
import { startSession } from '../src/session.ts';
import { connect, freshStorage } from './fixtures.ts';

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
  // The server would compile every plan, and read tables in their order, as it does for lists of millions of pets.
  const client = await connect(withOptions(url, '-c jit_above_cost=0 -c random_page_cost=100'));
  await startSession(client);
  await client.query(`PREPARE statement AS ${text}`);
  const count = new Set(text.match(/\$\d/g)).size;
  const values = count > 0 ? `(${Array(count).fill('NULL').join()})` : '';
  const { rows } = await client.query(`EXPLAIN (FORMAT json) EXECUTE statement${values}`);
  const [plan] = rows[0]['QUERY PLAN'];
  expect(plan, 'is compiled for each call').not.toHaveProperty('JIT');
  return allNodes(plan.Plan);
}

/** Fills a database, and brings its statistics up to date. */
const FILL = `INSERT INTO pets (name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint)
    SELECT 'Rex', n, (ARRAY['available', 'sold', NULL])[1 + n % 3], 'h' || n % 9, 'k' || n, 'f'
    FROM generate_series(1, 300000) AS n;
  INSERT INTO api_keys SELECT left(digest, 16), digest, 'p', 'h', now()
    FROM (SELECT md5(n::text) || md5(n::text) AS digest FROM generate_series(1, 2000) AS n) AS keys;
  ANALYZE`;

const { create, find, list, listByStatus, findEarlier } = PET_STATEMENTS;

/** The indexes of each statement; the arbiters of an insertion are those of its table. */
const INDEXES: readonly (readonly [string, string, readonly string[]])[] = [
  ...(['one', 'many'] as const).flatMap((form) => [
    [`pets: ${form}`, find[form].text, ['pets_pkey']] as const,
    [`pages: ${form}`, list[form].text, ['pets_pkey']] as const,
    [`pages by status: ${form}`, listByStatus[form].text, ['pets_by_status']] as const,
    [`pets by their idempotency keys: ${form}`, findEarlier[form].text, ['pets_by_idempotency_key']] as const,
    [`new pets: ${form}`, create[form].text, ['pets_by_idempotency_key']] as const,
  ]),
  ['pets to be moved', ARCHIVE_STATEMENTS.read.text, ['pets_pkey']],
  ['a key', KEY_STATEMENTS.find.text, ['api_keys_digest_key']],
  ['a page of keys', KEY_STATEMENTS.list.text, ['api_keys_pkey']],
  ['a new key', KEY_STATEMENTS.add.text, []],
  ['a revocation', KEY_STATEMENTS.revoke.text, ['api_keys_pkey']],
  ['a use', KEY_STATEMENTS.recordUse.text, ['api_keys_pkey']],
];

describeWithPostgres('an index serves every statement', () => {
  test.each([
    ['a new database', ''],
    ['one with many rows', FILL],
  ])('in %s', async (_, fill) => {
    const { url } = await freshStorage();
    await sql(fill, url);
    for (const [name, text, indexes] of INDEXES) {
      const nodes = await planOf(url, text);
      const used = nodes.flatMap((node) => [node['Index Name'] ?? [], node['Conflict Arbiter Indexes'] ?? []].flat());
      expect([...new Set(used)].sort(), `${name}: ${JSON.stringify(nodes)}`).toEqual(indexes);
      const types = nodes.map((node) => node['Node Type']).join();
      expect(types, name).not.toMatch(/Seq Scan|Bitmap/);
    }
  });
});

describeWithPostgres('a creation of several pets', () => {
  test('locks idempotency keys in one order, so that processes that repeat them cannot deadlock', async () => {
    const { url } = await freshStorage();
    const nodes = await planOf(url, create.many.text);
    const sorted = nodes.map((node) => node['Sort Key']?.map((key) => key.replace(/^.*\./, '')));
    expect(sorted).toContainEqual(['holder', 'key', 'id']);
  });
});
