import { readFile } from 'node:fs/promises';
import { added, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { describeWithPostgres, sql } from '@animal-store/test-servers/postgres';
import { expect, test } from 'vitest';
import { freshStorage } from './fixtures.ts';

describeWithPostgres('stored rows', () => {
  test('keep their ids if they were inserted by hand, and new pets get other ones', async () => {
    const { url, pets } = await freshStorage();
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
    const { url, pets } = await freshStorage();
    await sql("SELECT setval('pets_id_seq', 9007199254740990)", url);
    expect((await added(pets)).id).toBe(2n ** 53n - 1n);
    await expect(added(pets)).rejects.toMatchObject({ code: '2200H' });
  });

  test('lose old idempotency keys by the statement of docs/storage-postgres.md', async () => {
    const page = await readFile(new URL('../../../docs/storage-postgres.md', import.meta.url), 'utf8');
    const [, statement = ''] = /```sql\n\s+(UPDATE pets.*?)```/s.exec(page) ?? [];
    const { url, pets } = await freshStorage();
    const old = await added(pets, rex(), idempotencyOf(rex(), 'old'));
    await sql("UPDATE pets SET created_at = created_at - interval '91 days'", url);
    const recent = await added(pets, rex(), idempotencyOf(rex(), 'recent'));
    await sql(statement, url);
    expect(await pets.add(rex(), idempotencyOf(rex(), 'recent'))).toEqual({ pet: recent, created: false });
    expect(await pets.add(rex(), idempotencyOf(rex(), 'old'))).toMatchObject({ created: true });
    expect(await pets.find(old.id)).toEqual(old);
  });
});
