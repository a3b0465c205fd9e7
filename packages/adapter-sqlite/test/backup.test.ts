import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { addTo } from './add-to.ts';
import { freshFile } from './fresh-file.ts';
import { startProcess } from './processes.ts';

const run = promisify(execFile);

const PROGRAMS = fileURLToPath(new URL('../../../tools/deploy/sqlite/', import.meta.url));

/** A file that takes long to copy: an interrupted copy of it never ends. */
async function largeFile(): Promise<string> {
  const file = freshFile(tmpdir());
  const storage = createSqliteStorage({ file });
  await addTo(storage.pets, { name: 'Rex', categoryId: 1n });
  await storage.close();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE filler (content BLOB); INSERT INTO filler VALUES (zeroblob(200000000))');
  database.close();
  return file;
}

const restore = (...words: string[]) => run(process.execPath, [join(PROGRAMS, 'restore.mjs'), ...words]);

/**
 * Copies a file while another process commits every few milliseconds.
 *
 * @returns The copy.
 */
async function copied(copy: (file: string, target: string) => Promise<unknown>): Promise<string> {
  const file = await largeFile();
  const target = join(file, '../backup.db');
  const writer = startProcess(
    file,
    `for (let key = 0; ; key += 1) {
      await addUntilStored(key);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }`,
  );
  await writer.underWay();
  await copy(file, target);
  expect(writer.process.exitCode).toBeNull();
  return target;
}

function expectWhole(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(database.prepare('SELECT name FROM pets WHERE id = 1').get()).toEqual({ name: 'Rex' });
  } finally {
    database.close();
  }
}

test('backup.mjs copies a file while another process commits, and restore.mjs puts the copy in its place', async () => {
  const copy = await copied((file, to) =>
    run(process.execPath, [join(PROGRAMS, 'backup.mjs'), file, to], { timeout: 50_000 }).then(({ stdout }) =>
      expect(stdout).toBe('ok\n'),
    ),
  );
  expectWhole(copy);

  const file = freshFile();
  const storage = createSqliteStorage({ file });
  await addTo(storage.pets, { name: 'Max', categoryId: 1n });
  const log = readFileSync(`${file}-wal`);
  await storage.close();
  // As a process that was killed leaves it.
  writeFileSync(`${file}-wal`, log);
  const { stdout } = await restore(copy, file);
  expect(stdout).toMatch(/^ok, the next id is 10\d{5}\n$/);
  expectWhole(file);
  expect([statSync(copy).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o600, 0o600]);
});

test.each([
  ['has pets', 2, [], 1_000_003],
  ['has no pets', 0, [], 1_000_001],
  ['has pets, with a number of ids', 2, ['50'], 53],
])('restore.mjs skips ids that were assigned after the copy was made, if it %s', async (_, pets, ids, next) => {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  for (let count = 0; count < pets; count += 1) await addTo(storage.pets, { name: 'Rex', categoryId: 1n });
  await run(process.execPath, [join(PROGRAMS, 'backup.mjs'), file, `${file}.copy`]);
  await addTo(storage.pets, { name: 'Max', categoryId: 1n });
  await storage.close();

  const { stdout } = await restore(`${file}.copy`, file, ...ids);
  expect(stdout).toBe(`ok, the next id is ${next}\n`);
  const restored = createSqliteStorage({ file });
  const pet = await addTo(restored.pets, { name: 'Tom', categoryId: 1n });
  await restored.close();
  expect(Number(pet?.id)).toBe(next);
});

test('works beside Litestream, which adds tables and always holds a read transaction', async () => {
  const file = freshFile();
  const first = createSqliteStorage({ file });
  await addTo(first.pets, { name: 'Rex', categoryId: 1n });
  const litestream = new DatabaseSync(file);
  litestream.exec(`
    CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE _litestream_lock (id INTEGER);
    BEGIN; SELECT * FROM _litestream_seq`);
  await addTo(first.pets, { name: 'Max', categoryId: 1n });
  await first.close();

  const second = createSqliteStorage({ file });
  await second.ready();
  await addTo(second.pets, { name: 'Tom', categoryId: 1n });
  await second.close();
  litestream.close();
  await run(process.execPath, [join(PROGRAMS, 'backup.mjs'), file, `${file}.copy`]);
  await restore(`${file}.copy`, file);
  const restored = createSqliteStorage({ file });
  const pets = await restored.pets.list({ limit: 10, after: 0n });
  await restored.close();
  expect(pets.map(({ name }) => name)).toEqual(['Rex', 'Max', 'Tom']);
});

test('backup.mjs fails without a file, and makes none', async () => {
  const file = freshFile();
  await expect(run(process.execPath, [join(PROGRAMS, 'backup.mjs'), file, `${file}.copy`])).rejects.toMatchObject({
    code: 2,
    stderr: `there is no file ${file}\n`,
  });
  expect([existsSync(file), existsSync(`${file}.copy`)]).toEqual([false, false]);
});

test.each<[string, (copy: string, file: string) => void]>([
  ['is missing', () => {}],
  ['is empty', (copy) => writeFileSync(copy, '')],
  ['is something else', (copy) => writeFileSync(copy, 'name,categoryId\n')],
  ['is not whole', (copy, file) => writeFileSync(copy, readFileSync(file).subarray(0, 8_192))],
])('restore.mjs keeps the database if the copy %s', async (_, make) => {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  await addTo(storage.pets, { name: 'Rex', categoryId: 1n });
  await storage.close();
  make(`${file}.copy`, file);
  const failure = await restore(`${file}.copy`, file).catch((error) => error);
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining(`${file}.copy can't be used: `) });
  expectWhole(file);
  expect(existsSync(`${file}.restored`)).toBe(false);
});

test('backup.mjs fails for a damaged file', async () => {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  await Promise.all(Array.from({ length: 1_000 }, () => addTo(storage.pets, { name: 'Rex', categoryId: 1n })));
  await storage.close();
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, bytes.length - 8_192));
  const failure = await run(process.execPath, [join(PROGRAMS, 'backup.mjs'), file, `${file}.copy`]).catch(
    (error) => error,
  );
  expect(failure).toMatchObject({ code: 1 });
});
