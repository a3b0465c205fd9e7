import { readFile } from 'node:fs/promises';
import { added, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { describeWithPostgres, freshDatabase, sql, withOptions } from '@animal-store/test-servers/postgres';
import { expect, test } from 'vitest';
import { openStorage } from './fixtures.ts';

async function opened(url = freshDatabase()) {
  const { pets, ready } = openStorage(url);
  await ready();
  return { url, pets };
}

describeWithPostgres('stored rows', () => {
  test('have the texts of creations that arrive together as they are, whatever the role sets', async () => {
    const { url, pets } = await opened(withOptions(freshDatabase(), '-c array_nulls=off'));
    const names = ['"', '\\', '\\u0041', '\\0', "'", ',', '{}', 'NULL', 'null', 'a"b\\', '\nx', 'Zoë 🐕'];
    await Promise.all(names.map((name) => added(pets, { name, categoryId: 1n })));
    const rows = await sql('SELECT name, status, idempotency_key FROM pets ORDER BY id', url);
    expect(rows).toEqual(names.map((name) => ({ name, status: null, idempotency_key: null })));
  });

  test('fail alone if a trigger rejects them, and each of the others is stored', async () => {
    const { url, pets } = await opened();
    await sql(
      `CREATE FUNCTION no_max() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.name = 'Max' THEN RAISE 'no Max'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER no_max BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION no_max()`,
      url,
    );
    const names = Array.from({ length: 100 }, (_, index) => (index % 10 === 0 ? 'Max' : 'Rex'));
    const ends = await Promise.allSettled(names.map((name) => added(pets, rex({ name }))));
    expect(ends.map(({ status }) => status)).toEqual(names.map((name) => (name === 'Max' ? 'rejected' : 'fulfilled')));
    expect(await sql('SELECT count(*)::int FROM pets', url)).toEqual([{ count: 90 }]);
  });

  test('keep their ids if they were inserted by hand, and new pets get other ones', async () => {
    const { url, pets } = await opened();
    await expect(sql("INSERT INTO pets (id, name, category_id) VALUES (2, 'Max', 1)", url)).rejects.toThrow(
      'cannot insert a non-DEFAULT value into column "id"',
    );
    await sql(
      `INSERT INTO pets (id, name, category_id) OVERRIDING SYSTEM VALUE
        SELECT n, 'Max', 1 FROM unnest(ARRAY[1, 2, 3, 9, 9007199254740991]) AS n`,
      url,
    );
    expect((await added(pets)).id).toBe(4n);
    const others = await Promise.all(Array.from({ length: 20 }, () => added(pets)));
    expect(new Set(others.map(({ id }) => id)).size).toBe(20);
    expect(await pets.find(9n)).toMatchObject({ name: 'Max' });
  });

  test('have ids below 2^53, and a creation beyond that throws a defect', async () => {
    const { url, pets } = await opened();
    await sql("SELECT setval('pets_id_seq', 9007199254740990)", url);
    expect((await added(pets)).id).toBe(2n ** 53n - 1n);
    await expect(added(pets)).rejects.toMatchObject({ code: '2200H' });
  });

  test('lose old idempotency keys by the statement of docs/storage-postgres.md', async () => {
    const page = await readFile(new URL('../../../docs/storage-postgres.md', import.meta.url), 'utf8');
    const [, statement = ''] = /```sql\n\s+(UPDATE pets.*?)```/s.exec(page) ?? [];
    const { url, pets } = await opened();
    const old = await added(pets, rex(), idempotencyOf(rex(), 'old'));
    await sql("UPDATE pets SET created_at = created_at - interval '91 days'", url);
    const recent = await added(pets, rex(), idempotencyOf(rex(), 'recent'));
    await sql(statement, url);
    expect(await pets.add(rex(), idempotencyOf(rex(), 'recent'))).toEqual({ pet: recent, created: false });
    expect(await pets.add(rex(), idempotencyOf(rex(), 'old'))).toMatchObject({ created: true });
    expect(await pets.find(old.id)).toEqual(old);
  });
});
