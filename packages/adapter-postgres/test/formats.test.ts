import { readFile } from 'node:fs/promises';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { describeWithPostgres, freshDatabase, schemaOf, sql } from '@animal-store/test-postgres';
import { describe, expect, test } from 'vitest';
import { addTo, apiKey, idempotent, openStorage, rex } from './fixtures.ts';

// Written by pg_dump of the version that introduced the format: it never changes.
const FORMAT_1 = await readFile(new URL('fixtures/format-1.sql', import.meta.url), 'utf8');

async function restored(): Promise<string> {
  const url = freshDatabase();
  await sql(FORMAT_1.replaceAll('zoo.', `${schemaOf(url)}.`), url);
  return url;
}

/** Every table, column, constraint and index, in the words of the server. */
async function shapeOf(url: string): Promise<unknown> {
  const schema = schemaOf(url);
  const rows = await sql(
    `SELECT relname, relpersistence::text, attname, format_type(atttypid, atttypmod), attnotnull,
        attcollation::regcollation::text, pg_get_expr(adbin, adrelid), pg_get_constraintdef(con.oid), indexdef
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      LEFT JOIN pg_constraint AS con ON conrelid = pg_class.oid
      LEFT JOIN pg_indexes ON schemaname = '${schema}' AND tablename = relname
      WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' ORDER BY 1, attnum, 8, 9`,
    url,
  );
  return JSON.parse(JSON.stringify(rows).replaceAll(schema, 'zoo'));
}

const pets = (url: string) => sql('SELECT * FROM pets ORDER BY id', url);
const setFormat = (url: string, format: number) => sql(`UPDATE animal_store SET format = ${format}`, url);

describeWithPostgres('the stored format', () => {
  test('is format 1 in a new database', async () => {
    const url = freshDatabase();
    await openStorage(url).ready();
    expect(await shapeOf(url)).toEqual(await shapeOf(await restored()));
    expect(await sql('SELECT format FROM animal_store', url)).toEqual([{ format: 1 }]);
  });

  test('can be 1: old data is unchanged, and new data can be added', async () => {
    const url = await restored();
    const [before, shape] = [await pets(url), await shapeOf(url)];
    const storage = openStorage(url);
    await storage.ready();
    const stored = [
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
      { id: 2n, name: 'Max', categoryId: 2n ** 63n - 1n },
      { id: 3n, name: '  Rex\0 the \\ 🐕 \\0 ', categoryId: -(2n ** 63n), status: 'pending' },
      { id: 4n, name: "e\u0301'é\n", categoryId: 0n, status: 'available' },
      { id: 5n, name: '🐕'.repeat(200), categoryId: 7n },
    ] as const;
    expect(await storage.pets.list({ after: 0n, limit: 100 })).toEqual(stored);
    const third = { ...idempotent('k\\2', stored[2]), holder: 'the \0 zoo \\' };
    expect(await storage.pets.add(stored[2], third)).toEqual({ created: false, pet: stored[2] });
    expect(await storage.pets.add(rex, { ...third, fingerprint: 'another' })).toBeNull();
    expect((await addTo(storage.pets, rex, idempotent('new')))?.id).toBeGreaterThan(9n);

    expect(await storage.keys.list()).toEqual([
      apiKey(1),
      { ...apiKey(2), holder: 'Zoë', expiresAt: 1_800_000_000_000 },
      {
        ...apiKey(3),
        createdAt: 1_763_000_000_003,
        lastUsedAt: 1_763_000_100_000,
        revokedAt: 1_763_000_200_000,
      },
    ]);
    await storage.keys.add(apiKey(4));
    expect((await pets(url)).slice(0, -1)).toEqual(before);
    expect(await shapeOf(url)).toEqual(shape);
  });

  test('can be 2 during an upgrade', async () => {
    const url = await restored();
    const running = openStorage(url);
    await running.ready();
    await sql('ALTER TABLE pets ADD species text; ALTER TABLE api_keys ADD scope text', url);
    await setFormat(url, 2);
    for (const storage of [running, openStorage(url)]) {
      await storage.ready();
      expect(await addTo(storage.pets, rex)).not.toBeNull();
      expect(await storage.pets.find(1n)).toMatchObject({ name: 'Rex' });
      expect(await storage.keys.list()).toHaveLength(3);
    }
    expect(await sql('SELECT format FROM animal_store', url)).toEqual([{ format: 2 }]);
  });

  describe('is rejected with one line for the operator and not changed', () => {
    const NEWER =
      'the database has format 3, and this version of Animal Store works with formats up to 2: start a newer version';

    test('if it is newer', async () => {
      const url = await restored();
      await setFormat(url, 3);
      const before = await pets(url);
      const storage = openStorage(url);
      for (const call of [() => storage.ready(), () => addTo(storage.pets, rex), () => storage.pets.find(1n)]) {
        expect(misconfigurationOf(await failureOf(call))).toBe(NEWER);
      }
      expect(await pets(url)).toEqual(before);
    });

    test('if a table is of another program', async () => {
      const url = freshDatabase();
      await sql('CREATE TABLE pets (owner text)', url);
      const storage = openStorage(url);
      expect(misconfigurationOf(await failureOf(() => storage.ready()))).toBe(
        'the tables are those of another program, name another database or schema: relation "pets" already exists',
      );
      expect(await sql("SELECT * FROM pg_tables WHERE tablename = 'animal_store'", url)).not.toContainEqual(
        expect.objectContaining({ schemaname: schemaOf(url) }),
      );
    });

    test('if it becomes newer while the process runs, from the next check until it is restored', async () => {
      const url = await restored();
      const storage = openStorage(url);
      await storage.ready();
      await setFormat(url, 3);
      for (const call of [() => storage.ready(), () => addTo(storage.pets, rex), () => storage.pets.find(1n)]) {
        expect(misconfigurationOf(await failureOf(call))).toBe(NEWER);
      }
      await setFormat(url, 1);
      expect(await storage.pets.find(1n)).toMatchObject({ name: 'Rex' });
    });

    test('if it becomes newer while the process runs, from the first statement that the server rejects', async () => {
      const url = await restored();
      const storage = openStorage(url);
      await storage.ready();
      await setFormat(url, 3);
      await sql('ALTER TABLE pets RENAME name TO names', url);
      expect(misconfigurationOf(await failureOf(() => addTo(storage.pets, rex)))).toBe(NEWER);
      expect(misconfigurationOf(await failureOf(() => storage.keys.list()))).toBe(NEWER);
    });
  });

  test('is created once by processes that start together', async () => {
    const url = freshDatabase();
    const storages = Array.from({ length: 8 }, () => openStorage(url));
    await Promise.all(storages.map((storage) => storage.ready()));
    expect(await sql('SELECT format FROM animal_store', url)).toEqual([{ format: 1 }]);
  });
});
