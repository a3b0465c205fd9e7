import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { added, apiKey, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { BUDGET } from '@animal-store/adapter-kit';
import { type Storage, StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { backupFile } from '../src/backup.ts';
import { createSqliteStorage } from '../src/index.ts';
import { databaseAt, execute, fileWith, freshFile, misconfigured, openAt, storageAt, untilReady } from './fixtures.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  return { ...original, open: vi.fn(original.open) };
});

// The contract of storages is given files that are moved, replaced or changed, and put back.

const REPLACED = misconfigured(/it or its log was deleted or replaced while it was open/);

test('a file that is deleted or replaced before the first write is left as it is', async () => {
  const [file, other] = [freshFile(), await fileWith(1)];
  const { pets } = await openAt(file);
  // On a busy machine the first write may wait longer for its thread than a call may take.
  const isReplaced = () =>
    expect.poll(() => added(pets).catch((error: Error) => error), { timeout: 30_000 }).toMatchObject(REPLACED);
  rmSync(file);
  await isReplaced();
  expect(existsSync(file)).toBe(false);
  copyFileSync(other, file);
  await isReplaced();
  expect(readFileSync(file).equals(readFileSync(other))).toBe(true);
});

test.each(['the file', 'the folder'])('pets can only be read after the link to %s leads elsewhere', async (what) => {
  const [file, other, link] = [await fileWith(1), await fileWith(2), freshFile()];
  const [from, to] = what === 'the file' ? [file, other] : [dirname(file), dirname(other)];
  symlinkSync(from, link);
  const storage = await storageAt(what === 'the file' ? link : join(link, 'animals.db'));
  rmSync(link);
  symlinkSync(to, link);
  await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
  expect(await everyPage(storage.pets)).toHaveLength(1);
});

// A file with two names has two logs. What is written to one of them is lost when the file is next opened by its other name.
test('a file has one log if it is created by a link to a relative link', async () => {
  const [file, link] = [freshFile(), freshFile()];
  symlinkSync(`../${basename(dirname(file))}/animals.db`, `${link}2`);
  symlinkSync(`${link}2`, link);
  const storage = await storageAt(link);
  expect(storage.location).toBe(realpathSync(file));
  const pet = await added(storage.pets);
  expect(existsSync(`${link}-wal`)).toBe(false);
  expect(await everyPage((await openAt(file)).pets)).toEqual([pet]);

  rmSync(`${file}-wal`);
  await expect(added(storage.pets)).rejects.toMatchObject(REPLACED);
});

test.each([0, 10])('raises no alarm if the storage is closed %i turns after its first write began', async (turns) => {
  const file = await fileWith(0);
  // The thread starts with the first write, which is sent in the next turn.
  const storage = await createSqliteStorage({ file, create: false });
  const creation = added(storage.pets).catch((error: Error) => error);
  for (let count = 0; count < turns; count += 1) await nextTurn();
  const begin = performance.now();
  await storage.close();
  const hadTime = performance.now() - begin < BUDGET.call / 2;
  const outcome = await creation;
  // Closing waits for a write that was sent, unless the thread takes too long.
  if (turns > 0 && hadTime) expect(outcome).not.toMatchObject({ message: 'the storage is closed' });
  // On a busy machine the thread may not start in time.
  if (outcome instanceof Error) {
    expect(outcome).toMatchObject({ code: 'storage_unavailable' });
    expect(outcome.cause).not.toSatisfy(StorageMisconfigured.is);
  } else expect(await everyPage((await openAt(file)).pets)).toEqual([outcome]);
});

describe('a damaged page', () => {
  /** Damages two of some ten pages, neither the first nor the last one. Returns what repairs them. */
  function damage(file: string): () => void {
    const bytes = readFileSync(file);
    const position = Math.floor((bytes.length / 4_096) * 0.75) * 4_096;
    writeFileSync(file, Buffer.from(bytes).fill(0x5a, position, position + 2 * 4_096));
    return () => writeFileSync(file, bytes);
  }

  /** Waits until a storage that is not ready says why. */
  const isNotReady = ({ ready }: Storage, reason: object) =>
    expect.poll(() => ready().catch((error: Error) => error), { timeout: 30_000 }).toMatchObject(reason);

  test('makes the reads that meet it, every write and ready fail as a configuration error', async () => {
    const file = await fileWith(2_000);
    damage(file);
    const storage = await storageAt(file);
    const damaged = misconfigured(/animals\.db cannot be used: it is damaged \([^\n]+\): restore a backup$/);
    const unavailable = { code: 'storage_unavailable' };
    await expect(everyPage(storage.pets)).rejects.toMatchObject(unavailable);
    await expect(added(storage.pets)).rejects.toMatchObject(unavailable);
    await isNotReady(storage, damaged);
    await expect(added(storage.pets)).rejects.toMatchObject(damaged);
    await expect(everyPage(storage.pets)).rejects.toMatchObject(damaged);
    // Undamaged pages can still be read, and nothing was added.
    expect(await storage.pets.find(1n)).toMatchObject({ id: 1n });
    expect(await storage.pets.find(2_001n)).toBeNull();
  });

  // SQLite reports it so, too, if the disk fails to read.
  test('that the disk failed to read is no reason to restore a backup, and nothing is written until it can be read', async () => {
    const file = await fileWith(2_000);
    const repair = damage(file);
    const storage = await storageAt(file);
    const read = vi.fn().mockRejectedValue(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }));
    vi.mocked(open).mockImplementation(async () => ({ read }) as never);
    onTestFinished(() => void vi.mocked(open).mockReset());
    await expect(everyPage(storage.pets)).rejects.toMatchObject({ code: 'storage_unavailable' });
    const unreadable = misconfigured(/animals\.db cannot be used: it cannot be read \(EIO\): check the disk, [^\n]+$/);
    await isNotReady(storage, unreadable);
    await expect(added(storage.pets)).rejects.toMatchObject(unreadable);

    repair();
    read.mockResolvedValue({ bytesRead: 0 });
    await untilReady(storage);
    expect((await added(storage.pets)).id).toBe(2_001n);
    expect(await everyPage(storage.pets)).toHaveLength(2_001);
  });
});

test('a damaged full-text index of somebody else stops writes that need it, and no reads and copies, until it is rebuilt', async () => {
  const { pets, keys, ready, location: file } = await storageAt();
  const { id } = await added(pets);
  const db = databaseAt(file, { defensive: false });
  db.exec(`CREATE VIRTUAL TABLE words USING fts5(name);
    CREATE TRIGGER own AFTER INSERT ON pets BEGIN INSERT INTO words (rowid, name) VALUES (NEW.id, NEW.name); END;
    INSERT INTO words (name) VALUES ('Rex'); DELETE FROM words_data WHERE id = 10`);
  const damaged = misconfigured(
    /a virtual table that a trigger writes, such as a full-text index, is damaged: rebuild it$/,
  );
  await expect(added(pets)).rejects.toMatchObject(damaged);
  await keys.add(apiKey());
  expect(await pets.find(id)).toMatchObject(rex());
  expect((await backupFile(file)).size).toBeGreaterThan(0);
  db.exec("INSERT INTO words (words) VALUES ('rebuild')");
  await ready();
  await added(pets);
});

test('reads that need what is missing are unavailable, and the others are served', async () => {
  const { pets, keys, location: file } = await storageAt();
  const pet = await added(pets, rex({ status: 'sold' }));
  databaseAt(file).exec('DROP INDEX pets_by_status; ALTER TABLE api_keys RENAME TO keys');
  const page = pets.list({ status: 'sold', after: 0n, limit: 1 });
  await expect(page).rejects.toMatchObject(misconfigured(/pets_by_status/));
  await expect(keys.list({ after: '', limit: 20 })).rejects.toMatchObject(misconfigured(/is missing/));
  expect(await pets.find(pet.id)).toEqual(pet);
});

test('a hard link, tables and indexes that an administrator makes are no outage', async () => {
  const { ready, location: file } = await storageAt();
  databaseAt(file).exec(
    'CREATE INDEX by_name ON pets (name); CREATE VIEW names AS SELECT name FROM pets; ANALYZE; VACUUM',
  );
  const other = await openAt(file);
  linkSync(file, `${file}.link`);
  await ready();
  await other.ready();
});

test.each<[string, string, RegExp]>([
  [
    'the last id was assigned',
    'INSERT INTO pets (id, name, category_id, created_at) VALUES (9007199254740991, 1, 1, 0)',
    /^CHECK/,
  ],
  [
    'a trigger rejects every pet',
    "CREATE TRIGGER own BEFORE INSERT ON pets BEGIN SELECT raise(ABORT, 'no pets'); END",
    /^no pets$/,
  ],
  [
    'a trigger fails',
    'CREATE TRIGGER own BEFORE INSERT ON pets BEGIN SELECT * FROM gone; END',
    /^no such table: main.gone$/,
  ],
])('a storage is not ready, and serves what it has, if %s', async (_, change, reason) => {
  const { pets, ready, location: file } = await storageAt();
  const { id } = await added(pets);
  execute(change)(file);
  const cause = { message: expect.stringMatching(reason) };
  await expect(ready()).rejects.toMatchObject({ code: 'storage_unavailable', cause });
  expect(await pets.find(id)).toMatchObject(rex());
});

test('a unique index of an administrator makes the calls unavailable whose pets it rejects, and no others', async () => {
  const { pets, archive, location: file } = await storageAt();
  const stored = { ...(await added(pets, rex(), idempotencyOf(rex(), 'k'))), createdAt: 0 };
  execute('CREATE UNIQUE INDEX own ON pets (name)')(file);
  const twin = { ...stored, id: 9n };
  await archive?.restore([stored, { ...twin, idempotency: idempotencyOf(rex(), 'k') }]);
  const cause = { message: 'UNIQUE constraint failed: pets.name' };
  for (const call of [() => added(pets), () => archive?.restore([twin])]) {
    await expect(call()).rejects.toMatchObject({ code: 'storage_unavailable', cause });
  }
  expect(await added(pets, rex({ name: 'Max' }))).toMatchObject({ name: 'Max' });
});
