import { readFile } from 'node:fs/promises';
import { added, apiKey, idempotencyOf } from '@animal-store/adapter-contract';
import { describeWithPostgres, freshDatabase, schemaOf, sql } from '@animal-store/test-servers/postgres';
import { expect, test } from 'vitest';
import { FORMAT } from '../src/schema.ts';
import { closeConnections, freshStorage, lineOf, openStorage, untilReady } from './fixtures.ts';

// Written by pg_dump of the version that introduced the format: it never changes.
const FIXTURE = await readFile(new URL(`fixtures/format-${FORMAT}.sql`, import.meta.url), 'utf8');

async function restored(): Promise<string> {
  const url = freshDatabase();
  await sql(FIXTURE.replaceAll('zoo.', `${schemaOf(url)}.`), url);
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

/** The record of a key in the old data. */
const oldKey = (digit: string, createdAt: number) =>
  apiKey({ id: digit.repeat(16), digest: digit.repeat(64), createdAt });

describeWithPostgres('the stored format', () => {
  test('is the current one in a new database, which is created once by processes that start together', async () => {
    const url = freshDatabase();
    await Promise.all(Array.from({ length: 8 }, () => untilReady(openStorage(url).ready)));
    expect(await shapeOf(url)).toEqual(await shapeOf(await restored()));
    expect(await sql('SELECT format FROM animal_store', url)).toEqual([{ format: FORMAT }]);
  });

  test('is not created beside tables of another program', async () => {
    const { url } = await freshStorage();
    await sql('DROP TABLE animal_store', url);
    expect(await lineOf(openStorage(url).ready)).toMatch(
      /^tables of these names exist without animal_store: .*exists$/,
    );
  });

  test('is that of its fixture: old data is unchanged, and new data can be added', async () => {
    const { pets, keys, archive } = openStorage(await restored());
    const old = [
      [{ name: 'Rex', categoryId: 1n, status: 'sold' }, 186, { holder: 'the zoo', key: 'k\\0' }],
      [{ name: 'Max', categoryId: 2n ** 63n - 1n }, 188, null],
      [
        { name: '  Rex the \\ 🐕 \\0 ', categoryId: -(2n ** 63n), status: 'pending' },
        190,
        { holder: 'the "zoo" \\', key: 'k\\2' },
      ],
      [{ name: "e\u0301'é\n", categoryId: 0n, status: 'available' }, 190, null],
      [{ name: '🐕'.repeat(200), categoryId: 7n }, 191, { holder: 'the zoo', key: 'k\\4' }],
    ] as const;
    expect(await archive?.read(0n, 100)).toEqual(
      old.map(([pet, ms, key], index) => ({
        ...{ id: BigInt(index + 1), ...pet, createdAt: 1_795_489_371_000 + ms },
        ...(key && { idempotency: idempotencyOf(pet, key) }),
      })),
    );
    expect((await added(pets)).id).toBeGreaterThan(5n);
    expect(await keys.list({ after: '', limit: 20 })).toEqual([
      oldKey('1', 1),
      { ...oldKey('2', 2), holder: 'Zoë', expiresAt: 1_800_000_000_000 },
      { ...oldKey('3', 1_763_000_000_003), lastUsedAt: 1_763_000_100_000, revokedAt: 1_763_000_200_000 },
    ]);
  });
});

describeWithPostgres('a database that comes back empty', () => {
  test('does not begin again at id 1, and works once it is restored', async () => {
    const storage = await freshStorage(`${freshDatabase()}&application_name=emptied`);
    const { url } = storage;
    const pet = await added(storage.pets);
    const misconfigurations = () => {
      const calls = [storage.ready, () => added(storage.pets), () => storage.pets.find(1n)];
      return Promise.all(calls.map(lineOf));
    };
    const [{ created_at: createdAt } = {}] = await sql('SELECT created_at::text FROM animal_store', url);
    // Dropping a database closes its connections.
    await sql('DROP TABLE pets, api_keys, animal_store', url);
    await closeConnections('emptied');
    const missing = expect.stringMatching(/^the table animal_store is missing: undo the change, or restore a backup; /);
    // The first calls may still find a connection that was just closed.
    await expect.poll(misconfigurations).toEqual(Array(3).fill(missing));

    // Another process that creates the tables makes it another database.
    const { pets } = await freshStorage(`${url}2`);
    expect(await added(pets)).toMatchObject({ id: 1n });
    const another = 'the database is not the one that this process has used: restart the process';
    expect(await misconfigurations()).toEqual(Array(3).fill(another));

    await sql(`UPDATE animal_store SET created_at = '${createdAt}'`, url);
    expect(await storage.pets.find(1n)).toEqual(pet);
  });
});
