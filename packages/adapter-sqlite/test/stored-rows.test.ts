import { DatabaseSync } from 'node:sqlite';
import { LIMITS, type NewPet } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo } from './add-to.ts';
import { freshFile } from './fresh-file.ts';

const rex: NewPet = { name: 'Rex', categoryId: 1n };

function opened(): { storage: PetStorage; db: DatabaseSync } {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  const db = new DatabaseSync(file);
  onTestFinished(() => {
    db.close();
    return storage.close();
  });
  return { storage, db };
}

const digest = 'ab'.repeat(32);
describe('the schema rejects what the service cannot return:', () => {
  test.each([
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
  ])('%s', (row) => {
    const { db } = opened();
    expect(() => db.exec(`INSERT INTO pets VALUES ${row}`)).toThrow(/constraint failed|cannot store/);
    db.exec("INSERT INTO pets VALUES (7, 'Rex', 1, null, 'the zoo', 'k', 'f')");
  });

  test.each([
    `('${digest.slice(0, 15)}', '${digest}', 'p', 'h', 1, null, null, null)`,
    `('${digest.slice(0, 16)}', '${digest}0', 'p', 'h', 1, null, null, null)`,
    `('${digest.slice(0, 16).toUpperCase()}', '${digest.toUpperCase()}', 'p', 'h', 1, null, null, null)`,
    `('${digest.slice(0, 16)}', '${digest}', 'p', 'h', null, null, null, null)`,
    `('${digest.slice(0, 16)}', '${digest}', 'p', 'h', 'now', null, null, null)`,
  ])('%s', (row) => {
    const { db } = opened();
    expect(() => db.exec(`INSERT INTO api_keys VALUES ${row}`)).toThrow(/constraint failed|cannot store/);
  });
});

describe('ids', () => {
  test('are not assigned again after the last pet was deleted', async () => {
    const { storage, db } = opened();
    const last = await addTo(storage.pets, rex);
    db.exec('DELETE FROM pets');
    expect((await addTo(storage.pets, rex))?.id).toBeGreaterThan(last?.id ?? 0n);
  });

  test('are below 2^53, and a call beyond that throws a defect', async () => {
    const { storage, db } = opened();
    await addTo(storage.pets, rex);
    db.exec('UPDATE sqlite_sequence SET seq = 9007199254740990');
    expect((await addTo(storage.pets, rex))?.id).toBe(2n ** 53n - 1n);
    await expect(addTo(storage.pets, rex)).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 275 });
  });
});
