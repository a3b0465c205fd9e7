import { readFile } from 'node:fs/promises';
import type { PetStorage } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, freshDatabase, schemaOf, sql } from '@animal-store/test-postgres';
import { expect, test } from 'vitest';
import { addTo, apiKey, idempotent, openStorage, rex } from './fixtures.ts';

// Written by pg_dump of the version that introduced the format: it never changes.
const FORMAT_1 = await readFile(new URL('fixtures/format-1.sql', import.meta.url), 'utf8');

async function restored(): Promise<string> {
  const url = freshDatabase();
  await sql(FORMAT_1.replaceAll('zoo.', `${schemaOf(url)}.`), url);
  return url;
}

/** Every table, column, constraint, index and comment, in the words of the server. */
async function shapeOf(url: string): Promise<unknown> {
  const schema = schemaOf(url);
  const rows = await sql(
    `SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
        attcollation::regcollation::text, pg_get_expr(adbin, adrelid), con.conname, pg_get_constraintdef(con.oid),
        indexdef, obj_description(pg_class.oid), col_description(pg_class.oid, attnum)
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      LEFT JOIN pg_constraint AS con ON conrelid = pg_class.oid
      LEFT JOIN pg_indexes ON schemaname = '${schema}' AND tablename = relname
      WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' ORDER BY 1, attnum, 8, 10`,
    url,
  );
  return JSON.parse(JSON.stringify(rows).replaceAll(schema, 'zoo'));
}

const everyCall = ({ ready, pets }: PetStorage) => [ready, () => addTo(pets, rex), () => pets.find(1n)];

describeWithPostgres('the stored format', () => {
  test('is format 1 in a new database, which is created once by processes that start together', async () => {
    const url = freshDatabase();
    await Promise.all(Array.from({ length: 8 }, () => openStorage(url).ready()));
    expect(await shapeOf(url)).toEqual(await shapeOf(await restored()));
    expect(await sql('SELECT format FROM animal_store', url)).toEqual([{ format: 1 }]);
  });

  test('can be 1: old data is unchanged, and new data can be added', async () => {
    const url = await restored();
    const { pets, keys } = openStorage(url);
    const stored = [
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
      { id: 2n, name: 'Max', categoryId: 2n ** 63n - 1n },
      { id: 3n, name: '  Rex the \\ 🐕 \\0 ', categoryId: -(2n ** 63n), status: 'pending' },
      { id: 4n, name: "e\u0301'é\n", categoryId: 0n, status: 'available' },
      { id: 5n, name: '🐕'.repeat(200), categoryId: 7n },
    ] as const;
    expect(await pets.list({ after: 0n, limit: 100 })).toEqual(stored);
    const third = { ...idempotent('k\\2', stored[2]), holder: 'the "zoo" \\' };
    expect(await pets.add(stored[2], third)).toEqual({ created: false, pet: stored[2] });
    expect(await pets.add(rex, { ...third, fingerprint: 'another' })).toBeNull();
    expect((await addTo(pets, rex, idempotent('new')))?.id).toBeGreaterThan(5n);
    expect(await keys.list()).toEqual([
      apiKey(1),
      { ...apiKey(2), holder: 'Zoë', expiresAt: 1_800_000_000_000 },
      { ...apiKey(3), createdAt: 1_763_000_000_003, lastUsedAt: 1_763_000_100_000, revokedAt: 1_763_000_200_000 },
    ]);
  });

  test('must be there', async () => {
    const url = await restored();
    await sql('DELETE FROM animal_store', url);
    expect(misconfigurationOf(await failureOf(() => openStorage(url).ready()))).toBe(
      'the table animal_store has no row: restore the database',
    );
  });

  test('is not created beside a table of another program', async () => {
    const url = freshDatabase();
    await sql('CREATE TABLE pets (owner text)', url);
    expect(misconfigurationOf(await failureOf(() => openStorage(url).ready()))).toBe(
      'the tables are those of another program, name another database or schema: relation "pets" already exists',
    );
    expect(await sql("SELECT to_regclass('animal_store') AS created", url)).toEqual([{ created: null }]);
  });
});

describeWithPostgres('a process whose database', () => {
  /** Closes the connections to a database, as dropping it does, and drops its tables. */
  async function emptied(url: string, name: string): Promise<void> {
    await sql('DROP TABLE pets, api_keys, animal_store', url);
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`);
  }

  test('has lost a table is not ready', async () => {
    const url = freshDatabase();
    const storage = openStorage(url);
    await addTo(storage.pets, rex);
    await sql('DROP TABLE api_keys', url);
    expect(misconfigurationOf(await failureOf(storage.ready))).toMatch(/^a table is missing: restore the database: /);
  });

  test('comes back empty does not begin again at id 1, and works once it is restored', async () => {
    const url = `${freshDatabase()}&application_name=emptied`;
    const storage = openStorage(url);
    const pet = await addTo(storage.pets, rex);
    const [{ created_at: createdAt } = {}] = await sql('SELECT created_at::text FROM animal_store', url);
    await emptied(url, 'emptied');
    const missing = /^a table is missing: restore the database: /;
    const misconfiguration = async (call: () => Promise<unknown>) => misconfigurationOf(await failureOf(call));
    // The first call may still find a connection that was just closed.
    await expect.poll(() => misconfiguration(storage.ready)).toMatch(missing);
    for (const call of everyCall(storage)) expect(await misconfiguration(call)).toMatch(missing);

    // Another process that creates the tables makes it another database.
    expect(await addTo(openStorage(`${url}2`).pets, rex)).toMatchObject({ id: 1n });
    for (const call of everyCall(storage)) {
      expect(await misconfiguration(call)).toBe(
        'the database is not the one that this process has used: restart the process',
      );
    }

    await sql(`UPDATE animal_store SET created_at = '${createdAt}'`, url);
    expect(await storage.pets.find(1n)).toEqual(pet);
  });
});
