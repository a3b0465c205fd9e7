import { added, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import type { PetStorage } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { databaseAt, freshFile, misconfigured, openAt, storageAt } from './fixtures.ts';

const sold = rex({ status: 'sold' });

async function expectNothingWritten({ pets, keys, ready }: PetStorage, reason: RegExp): Promise<void> {
  const idempotency = idempotencyOf(sold, 'k1');
  for (const write of [ready, () => pets.add(sold), () => pets.add(sold, idempotency), () => keys.prune(1)]) {
    await expect(write()).rejects.toMatchObject(misconfigured(reason));
  }
}

const KEYS_INDEX = 'INDEX pets_by_idempotency_key ON pets (idempotency_holder, idempotency_key)';
const DROPPED = 'DROP INDEX pets_by_idempotency_key';

describe('nothing more is written, and opening fails, after', () => {
  test.each<[string, change: string, reason: RegExp, undo: string]>([
    ['the format was raised', 'PRAGMA user_version = 2', /animals\.db has format 2, /, 'PRAGMA user_version = 1'],
    [
      'it became the file of another program',
      'PRAGMA application_id = 7',
      /it is the database of another program/,
      'PRAGMA application_id = 0x416e696d',
    ],
    [
      'the index of idempotency keys is no longer unique',
      `${DROPPED}; CREATE ${KEYS_INDEX}`,
      /its index pets_by_idempotency_key is missing, or was changed: it was made by CREATE UNIQUE INDEX \S[^\n]*$/,
      `${DROPPED}; CREATE UNIQUE ${KEYS_INDEX} WHERE idempotency_key IS NOT NULL`,
    ],
    [
      'the index of statuses was dropped',
      'DROP INDEX pets_by_status',
      /its index pets_by_status is missing/,
      'CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL',
    ],
    [
      'pets was renamed, and another table has its name',
      'ALTER TABLE pets RENAME TO animals; CREATE TABLE pets AS SELECT * FROM animals',
      /its table pets is missing, or was changed: it was made by CREATE TABLE \S[^\n]*$/,
      'DROP TABLE pets; ALTER TABLE animals RENAME TO pets',
    ],
  ])('%s, until that is undone', async (_, change, reason, undo) => {
    const file = freshFile();
    const storage = await storageAt(file);
    const first = await added(storage.pets, sold);
    const other = databaseAt(file);
    other.exec(change);
    await expectNothingWritten(storage, reason);
    await expect(openAt(file)).rejects.toThrow(reason);
    other.exec(undo);
    await storage.ready();
    const second = await added(storage.pets, sold);
    expect(second.id).toBe(first.id + 1n);
    expect(await everyPage((await openAt(file)).pets)).toEqual([first, second]);
  });
});

test('no id is assigned again if the counter of ids is set back while the file is open', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  for (let count = 0; count < 3; count += 1) await added(storage.pets);
  const other = databaseAt(file);
  other.exec('CREATE TEMP TABLE kept AS SELECT * FROM sqlite_sequence; DELETE FROM pets; DELETE FROM sqlite_sequence');
  await expectNothingWritten(storage, /its counter of ids was set back: restore a backup$/);
  other.exec('INSERT INTO sqlite_sequence SELECT * FROM kept');
  expect((await added(storage.pets)).id).toBe(4n);
});

test('reads that need what is missing are unavailable, and the others are served', async () => {
  const file = freshFile();
  const { pets, keys } = await storageAt(file);
  const pet = await added(pets, sold);
  databaseAt(file).exec('DROP INDEX pets_by_status; ALTER TABLE api_keys RENAME TO keys');
  const page = pets.list({ status: 'sold', after: 0n, limit: 1 });
  await expect(page).rejects.toMatchObject(misconfigured(/pets_by_status/));
  await expect(keys.list()).rejects.toMatchObject(misconfigured(/is missing/));
  expect(await pets.find(pet.id)).toEqual(pet);
});

test('tables and indexes of an administrator are no outage', async () => {
  const file = freshFile();
  const storage = await storageAt(file);
  databaseAt(file).exec(
    'CREATE INDEX by_name ON pets (name); CREATE VIEW names AS SELECT name FROM pets; ANALYZE; VACUUM',
  );
  await storage.ready();
  await (await openAt(file)).ready();
});
