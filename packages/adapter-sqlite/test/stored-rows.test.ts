import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { addTo, databaseAt, everyPet, fileWith, freshFile, rex, storageAt } from './fixtures.ts';

const digest = 'ab'.repeat(32);

describe('the schema', () => {
  const expectRejection = (db: DatabaseSync, table: string, row: string) =>
    expect(() => db.exec(`INSERT INTO ${table} VALUES ${row}`), row).toThrow(/constraint failed|cannot store/);

  test('rejects pets that the service cannot return', async () => {
    const db = databaseAt(await fileWith(0));
    for (const row of [
      "(0, 'Rex', 1, null, 0, null, null, null)",
      "(9007199254740992, 'Rex', 1, null, 0, null, null, null)",
      "(7, '', 1, null, 0, null, null, null)",
      `(7, '${'x'.repeat(LIMITS.name.maxLength + 1)}', 1, null, 0, null, null, null)`,
      "(7, x'52', 1, null, 0, null, null, null)",
      '(7, null, 1, null, 0, null, null, null)',
      "(7, 'Rex', null, null, 0, null, null, null)",
      "(7, 'Rex', 1.5, null, 0, null, null, null)",
      "(7, 'Rex', 9223372036854775808, null, 0, null, null, null)",
      "(7, 'Rex', 1, 'Sold', 0, null, null, null)",
      "(7, 'Rex', 1, '', 0, null, null, null)",
      "(7, 'Rex', 1, null, null, null, null, null)",
      "(7, 'Rex', 1, null, 0, 'the zoo', 'k', null)",
      "(7, 'Rex', 1, null, 0, 'the zoo', null, 'f')",
      "(7, 'Rex', 1, null, 0, null, 'k', 'f')",
      "(7, 'Rex', 1, null, 0, 'the zoo', '', 'f')",
    ]) {
      expectRejection(db, 'pets', row);
    }
    db.exec("INSERT INTO pets VALUES (7, 'Rex', 1, null, 0, 'the zoo', 'k', 'f')");
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

test('idempotency keys are removed by age with the statement of docs/storage-sqlite.md', async () => {
  const page = readFileSync(new URL('../../../docs/storage-sqlite.md', import.meta.url), 'utf8');
  const statement = /UPDATE pets SET idempotency_[^;]+;/.exec(page)?.[0] ?? '';
  const file = freshFile();
  const storage = await storageAt(file);
  const named = (key: string) => [rex, { holder: 'the zoo', key, fingerprint: 'f' }] as const;
  const db = databaseAt(file);
  const before = Date.now();
  for (const key of ['old', 'new']) await addTo(storage, ...named(key));
  const { createdAt } = db.prepare('SELECT created_at AS createdAt FROM pets').get() as { createdAt: number };
  expect(createdAt).toBeGreaterThanOrEqual(before);
  expect(createdAt).toBeLessThanOrEqual(Date.now());
  db.exec(`UPDATE pets SET created_at = created_at - ${30 * 86_400_000 + 60_000} WHERE idempotency_key = 'old'`);

  expect(db.prepare(statement).run().changes).toBe(1);
  expect((await storage.pets.add(...named('new')))?.created).toBe(false);
  expect((await storage.pets.add(...named('old')))?.created).toBe(true);
  expect(await everyPet(storage)).toHaveLength(3);
});

describe('ids', () => {
  test('are below 2^53, and a call beyond that throws a defect', async () => {
    const file = freshFile();
    const storage = await storageAt(file);
    await addTo(storage, rex);
    databaseAt(file).exec('UPDATE sqlite_sequence SET seq = 9007199254740990');
    expect((await addTo(storage, rex))?.id).toBe(2n ** 53n - 1n);
    await expect(addTo(storage, rex)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 275 });
  });
});
