import { readFile } from 'node:fs/promises';
import { describeWithPostgres, freshDatabase, sql, withOptions } from '@animal-store/test-postgres';
import { describe, expect, test } from 'vitest';
import { addTo, idempotent, openStorage, rex } from './fixtures.ts';

async function opened(url = freshDatabase()) {
  const { pets, keys, ready } = openStorage(url);
  await ready();
  return { url, pets, keys };
}

const digest = 'ab'.repeat(32);

describeWithPostgres('stored rows', () => {
  describe('are rejected if the service cannot return', () => {
    test.each([
      ['pets_id_in_range', "(0, 'Rex', 1, null, null, null, null)"],
      ['pets_id_in_range', "(9007199254740992, 'Rex', 1, null, null, null, null)"],
      ['pets_name_length', "(7, '', 1, null, null, null, null)"],
      ['pets_name_length', `(7, '${'x'.repeat(201)}', 1, null, null, null, null)`],
      ['"name"', '(7, null, 1, null, null, null, null)'],
      ['"category_id"', "(7, 'Rex', null, null, null, null, null)"],
      ['pets_known_status', "(7, 'Rex', 1, 'Sold', null, null, null)"],
      ['pets_idempotency_key_complete', "(7, 'Rex', 1, null, 'the zoo', 'k', null)"],
      ['pets_idempotency_key_length', "(7, 'Rex', 1, null, 'the zoo', '', 'f')"],
    ])('pets: %s in %s', async (constraint, row) => {
      const { url } = await opened();
      await expect(sql(`INSERT INTO pets OVERRIDING SYSTEM VALUE VALUES ${row}`, url)).rejects.toThrow(constraint);
    });

    test.each([
      ['api_keys_id_of_digest', `('${digest.slice(0, 15)}', '${digest}', 'p', 'h', now())`],
      ['api_keys_digest_form', `('${digest.slice(0, 16)}', '${digest}0', 'p', 'h', now())`],
      ['api_keys_digest_form', `('${digest.slice(0, 16).toUpperCase()}', '${digest.toUpperCase()}', 'p', 'h', now())`],
      ['"created_at"', `('${digest.slice(0, 16)}', '${digest}', 'p', 'h', null)`],
    ])('keys: %s in %s', async (constraint, row) => {
      const { url } = await opened();
      await expect(sql(`INSERT INTO api_keys VALUES ${row}`, url)).rejects.toThrow(constraint);
    });
  });

  test('have the texts of creations that arrive together as they are', async () => {
    const { url, pets } = await opened(withOptions(freshDatabase(), '-c array_nulls=off'));
    const names = ['"', '\\', '\\u0041', '\\0', "'", ',', '{}', 'NULL', 'null', ' ', 'a"b\\', '\n', 'Zoë 🐕'];
    const added = await Promise.all(names.map((name) => addTo(pets, { name, categoryId: 1n })));
    expect(added.map((pet) => pet?.name)).toEqual(names);
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
    const ends = await Promise.allSettled(names.map((name) => addTo(pets, { ...rex, name })));
    expect(ends.map(({ status }) => status)).toEqual(names.map((name) => (name === 'Max' ? 'rejected' : 'fulfilled')));
    await expect(addTo(pets, { ...rex, name: 'Max' })).rejects.toMatchObject({ code: 'P0001' });
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
    expect((await addTo(pets, rex))?.id).toBe(4n);
    const added = await Promise.all(Array.from({ length: 20 }, (_, index) => addTo(pets, rex, idempotent(`${index}`))));
    expect(new Set(added.map((pet) => pet?.id)).size).toBe(20);
    expect(await pets.find(9n)).toMatchObject({ name: 'Max' });
  });

  test('have ids below 2^53, and a creation beyond that throws a defect', async () => {
    const { url, pets } = await opened();
    await sql("SELECT setval('pets_id_seq', 9007199254740990)", url);
    expect((await addTo(pets, rex))?.id).toBe(2n ** 53n - 1n);
    await expect(addTo(pets, rex)).rejects.toMatchObject({ code: '2200H' });
  });

  test('lose old idempotency keys by the statement of docs/storage-postgres.md', async () => {
    const page = await readFile(new URL('../../../docs/storage-postgres.md', import.meta.url), 'utf8');
    const [, statement = ''] = /```sql\n\s+(UPDATE pets.*?)```/s.exec(page) ?? [];
    const { url, pets } = await opened();
    const old = await addTo(pets, rex, idempotent('old'));
    await sql("UPDATE pets SET created_at = created_at - interval '91 days'", url);
    const recent = await addTo(pets, rex, idempotent('recent'));
    await sql(statement, url);
    expect(await pets.add(rex, idempotent('recent'))).toEqual({ pet: recent, created: false });
    expect(await pets.add(rex, idempotent('old'))).toMatchObject({ created: true });
    expect(await pets.find(old?.id ?? 0n)).toEqual(old);
  });
});
