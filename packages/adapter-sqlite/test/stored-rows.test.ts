import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { addTo, databaseAt, fileWith, freshFile, rex, storageAt } from './fixtures.ts';

const digest = 'ab'.repeat(32);

describe('the schema', () => {
  const expectRejection = (db: DatabaseSync, table: string, row: string) =>
    expect(() => db.exec(`INSERT INTO ${table} VALUES ${row}`), row).toThrow(/constraint failed|cannot store/);

  test('rejects pets that the service cannot return', async () => {
    const db = databaseAt(await fileWith(0));
    for (const row of [
      "(0, 'Rex', 1, null, null, null, null)",
      "(9007199254740992, 'Rex', 1, null, null, null, null)",
      "(7, '', 1, null, null, null, null)",
      `(7, '${'x'.repeat(LIMITS.name.maxLength + 1)}', 1, null, null, null, null)`,
      "(7, x'52', 1, null, null, null, null)",
      '(7, null, 1, null, null, null, null)',
      "(7, 'Rex', null, null, null, null, null)",
      "(7, 'Rex', 1.5, null, null, null, null)",
      "(7, 'Rex', 9223372036854775808, null, null, null, null)",
      "(7, 'Rex', 1, 'Sold', null, null, null)",
      "(7, 'Rex', 1, '', null, null, null)",
      "(7, 'Rex', 1, null, 'the zoo', 'k', null)",
      "(7, 'Rex', 1, null, 'the zoo', null, 'f')",
      "(7, 'Rex', 1, null, null, 'k', 'f')",
      "(7, 'Rex', 1, null, 'the zoo', '', 'f')",
    ]) {
      expectRejection(db, 'pets', row);
    }
    db.exec("INSERT INTO pets VALUES (7, 'Rex', 1, null, 'the zoo', 'k', 'f')");
  });

  test('rejects API keys that the service cannot return', async () => {
    const db = databaseAt(await fileWith(0));
    for (const row of [
      `('${digest.slice(0, 15)}', '${digest}', 'p', 'h', 1, null, null, null)`,
      `('${digest.slice(0, 16)}', '${digest}0', 'p', 'h', 1, null, null, null)`,
      `('${digest.slice(0, 16).toUpperCase()}', '${digest.toUpperCase()}', 'p', 'h', 1, null, null, null)`,
      `('${digest.slice(0, 16)}', '${digest}', 'p', 'h', null, null, null, null)`,
      `('${digest.slice(0, 16)}', '${digest}', 'p', 'h', 'now', null, null, null)`,
    ]) {
      expectRejection(db, 'api_keys', row);
    }
    db.exec(`INSERT INTO api_keys VALUES ('${digest.slice(0, 16)}', '${digest}', 'p', 'h', 1, null, null, null)`);
  });
});

describe('ids', () => {
  test('are below 2^53, and a call beyond that throws a defect', async () => {
    const file = freshFile();
    const storage = storageAt(file);
    await addTo(storage, rex);
    databaseAt(file).exec('UPDATE sqlite_sequence SET seq = 9007199254740990');
    expect((await addTo(storage, rex))?.id).toBe(2n ** 53n - 1n);
    await expect(addTo(storage, rex)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 275 });
  });
});
