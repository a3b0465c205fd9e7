import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { added, everyPage, rex } from '@animal-store/adapter-contract';
import { expect, test } from 'vitest';
import { databaseAt, execute, fileWith, freshFile, openAt, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

const run = promisify(execFile);

const PROGRAMS = fileURLToPath(new URL('../../../tools/deploy/sqlite/', import.meta.url));

const backup = (file: string, to: string) =>
  run(process.execPath, [join(PROGRAMS, 'backup.mjs'), file, to], { timeout: 500_000 });
const restore = (...words: string[]) => run(process.execPath, [join(PROGRAMS, 'restore.mjs'), ...words]);
const failureOf = (program: Promise<unknown>) => program.catch((error: unknown) => error);

function expectWhole(file: string): void {
  const database = databaseAt(file, { readOnly: true });
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  expect(database.prepare('SELECT name FROM pets WHERE id = 1').get()).toEqual({ name: 'Rex' });
  database.close();
}

test('backup.mjs copies a file while another process commits, and restore.mjs puts the copy in its place', async () => {
  // It takes long to copy: a copy that begins anew with each commit never ends.
  const large = await fileWith(1, freshFile(tmpdir()));
  const filled = databaseAt(large);
  filled.exec('CREATE TABLE filler (content BLOB); INSERT INTO filler VALUES (zeroblob(200000000))');
  filled.close();
  const copy = `${large}.copy`;
  const writer = startProcess(large, 'for (let key = 0; ; key += 1) await addUntilStored(key);');
  await writer.underWay(1);
  expect((await backup(large, copy)).stdout).toBe('ok\n');
  expect(writer.process.exitCode).toBeNull();
  expectWhole(copy);

  const { pets, close, location: file } = await storageAt();
  await added(pets, rex({ name: 'Max' }));
  const log = readFileSync(`${file}-wal`);
  await close();
  // A killed process leaves its log.
  writeFileSync(`${file}-wal`, log);
  expect((await restore(copy, file)).stdout).toMatch(/^ok, the next id is 10\d{5}\n$/);
  expectWhole(file);
  expect([statSync(copy).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o600, 0o600]);
});

test.each([
  ['has pets', 2, [], 1_000_003],
  ['has no pets', 0, [], 1_000_001],
  ['has pets, with a number of ids', 2, ['50'], 53],
])('restore.mjs skips ids that were assigned after the copy was made, if it %s', async (_, pets, ids, next) => {
  const file = await fileWith(pets);
  await backup(file, `${file}.copy`);
  await fileWith(1, file);

  expect((await restore(`${file}.copy`, file, ...ids)).stdout).toBe(`ok, the next id is ${next}\n`);
  expect(Number((await added((await storageAt(file)).pets)).id)).toBe(next);
});

test('works beside Litestream, which adds tables and always holds a read transaction', async () => {
  const file = freshFile();
  const first = await storageAt(file);
  await added(first.pets);
  const litestream = new DatabaseSync(file);
  litestream.exec(`
    CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE _litestream_lock (id INTEGER);
    BEGIN; SELECT * FROM _litestream_seq`);
  await added(first.pets, rex({ name: 'Max' }));
  await first.close();

  const second = await storageAt(file);
  await added(second.pets, rex({ name: 'Tom' }));
  await second.close();
  litestream.close();
  await backup(file, `${file}.copy`);
  await restore(`${file}.copy`, file);
  const { pets } = await storageAt(file);
  expect((await everyPage(pets)).map(({ name }) => name)).toEqual(['Rex', 'Max', 'Tom']);
});

test.each<[string, (copy: string, file: string) => void]>([
  ['is missing', () => {}],
  ['is empty', (copy) => writeFileSync(copy, '')],
  ['is something else', (copy) => writeFileSync(copy, 'name,categoryId\n')],
  ['is not whole', (copy, file) => writeFileSync(copy, readFileSync(file).subarray(0, 8_192))],
])('restore.mjs keeps the database if the copy %s', async (_, make) => {
  const file = await fileWith(1);
  make(`${file}.copy`, file);
  expect(await failureOf(restore(`${file}.copy`, file))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${file}.copy can't be used: `),
  });
  expectWhole(file);
  expect(existsSync(`${file}.restored`)).toBe(false);
});

test('backup.mjs reads by a link, and restore.mjs leaves it a link', async () => {
  const [file, link] = [await fileWith(1), `${freshFile()}.link`];
  symlinkSync(file, link);
  const { pets } = await storageAt(link);
  await added(pets, rex({ name: 'Max' }));
  expect((await backup(link, `${file}.copy`)).stdout).toBe('ok\n');
  const restored = freshFile();
  renameSync(await fileWith(0), restored);
  rmSync(link);
  symlinkSync(restored, link);
  expect((await restore(`${file}.copy`, link)).stdout).toMatch(/^ok/);
  expect(readlinkSync(link)).toBe(restored);
  expect(await everyPage((await openAt(restored)).pets)).toHaveLength(2);
});

const SECOND_NAME = /second name.*\(-wal\) beside it$/;
const TOO_OLD = /^needs Node\.js 24, this is v/;
/** Older versions have no node:sqlite, either. */
const onOldNode = (program: string) =>
  run(process.execPath, ['--no-experimental-sqlite', join(PROGRAMS, program), 'animals.db', 'copy.db']);

test.each<[string, (file: string, other: string) => Promise<unknown>, RegExp]>([
  ['backup.mjs of a file with a hard link', (file) => backup(file, `${file}.copy`), SECOND_NAME],
  ['backup.mjs to a folder', (file) => backup(`${file}.link`, dirname(file)), / is a folder: name a file$/],
  ['backup.mjs onto the file itself', (_, other) => backup(other, `${other}.self`), /^COPY must be another file$/],
  ['backup.mjs without a file', (file) => backup(`${file}.none`, `${file}.copy`), /^there is no file .*\.none$/],
  ['backup.mjs with a Node.js that is too old', () => onOldNode('backup.mjs'), TOO_OLD],
  ['restore.mjs onto a file with a hard link', (file, other) => restore(other, file), SECOND_NAME],
  ['restore.mjs onto a link to no file', (_, other) => restore(other, `${other}.lost`), / is a link to no file/],
  ['restore.mjs with a Node.js that is too old', () => onOldNode('restore.mjs'), TOO_OLD],
])('rejects in one line and changes nothing: %s', async (_, program, line) => {
  const [file, other] = [await fileWith(2), await fileWith(1)];
  linkSync(file, `${file}.link`);
  symlinkSync('missing.db', `${other}.lost`);
  symlinkSync(other, `${other}.self`);
  const contents = () => [file, other].map((path) => [readFileSync(path), readdirSync(dirname(path))]);
  const before = contents();
  const { code, stderr } = (await failureOf(program(file, other))) as { code: number; stderr: string };
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^.+\n$/)]);
  expect(stderr.trim()).toMatch(line);
  expect(contents()).toEqual(before);
});

test('backup.mjs keeps the earlier copy if the file is damaged', async () => {
  const file = await fileWith(1_000);
  await backup(file, `${file}.copy`);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, bytes.length - 8_192));
  expect(await failureOf(backup(file, `${file}.copy`))).toMatchObject({ code: 1 });
  expectWhole(`${file}.copy`);
  expect(readdirSync(dirname(file)).filter((name) => name.includes('partial'))).toEqual([]);
});

test('backup.mjs replaces an earlier copy with its log, and keeps its mode', async () => {
  const file = await fileWith(1);
  const copy = await fileWith(2);
  chmodSync(copy, 0o640);
  for (const part of ['-wal', '-journal']) writeFileSync(copy + part, `the ${part} of the earlier copy`);
  expect((await backup(file, copy)).stdout).toBe('ok\n');
  expectWhole(copy);
  expect(await everyPage((await openAt(copy)).pets)).toHaveLength(1);
  expect([statSync(copy).mode & 0o777, existsSync(`${copy}-journal`)]).toEqual([0o640, false]);
});

test('two backups to one copy at the same time leave a whole copy', async () => {
  const large = await fileWith(1, freshFile(tmpdir()));
  execute('CREATE TABLE filler AS SELECT zeroblob(100000000)')(large);
  const copies = Array.from({ length: 3 }, async (_, index) => {
    await sleep(150 * index);
    return backup(large, `${large}.copy`);
  });
  for (const { stdout } of await Promise.all(copies)) expect(stdout).toBe('ok\n');
  expectWhole(`${large}.copy`);
});
