import { describeWithPostgres, freshDatabase, sql, withOptions } from '@animal-store/test-postgres';
import { expect, test } from 'vitest';
import { createConnection } from '../src/connection/connection.ts';
import { TIME_LIMITS } from '../src/index.ts';
import { addTo, idempotent, openStorage, rex } from './fixtures.ts';

describeWithPostgres('a statement that the server wants to be repeated', () => {
  test.each(['40001', '40P01'])('is repeated after %s', async (code) => {
    const url = freshDatabase();
    await sql(
      `CREATE SEQUENCE tries;
      CREATE FUNCTION try_again() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') < 4 THEN RAISE SQLSTATE '${code}'; END IF;
        RETURN currval('tries');
      END $$`,
      url,
    );
    const { query, close } = createConnection(url, TIME_LIMITS, async () => {});
    expect(await query('SELECT try_again()')).toEqual([['4']]);
    await close();
  });

  test('fails if it must be repeated too often', async () => {
    const url = freshDatabase();
    await sql("CREATE FUNCTION fail() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '40001'; END $$", url);
    const { query, close } = createConnection(url, TIME_LIMITS, async () => {});
    await expect(query('SELECT fail()')).rejects.toMatchObject({ code: '40001' });
    await close();
  });
});

describeWithPostgres('two storages whose transactions are serializable', () => {
  test('create one pet for each idempotency key', async () => {
    const url = withOptions(freshDatabase(), '-c default_transaction_isolation=serializable');
    const storages = [openStorage(url), openStorage(url)];
    const created = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        addTo(storages[index % 2]?.pets as never, rex, idempotent(`k${index % 50}`)),
      ),
    );
    for (const [index, pet] of created.entries()) expect(pet).toEqual(created[index % 50]);
    expect(await storages[0]?.pets.list({ after: 0n, limit: 1_000 })).toHaveLength(50);
  });
});
