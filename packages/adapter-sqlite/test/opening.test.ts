import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type StatsFs,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { added, everyPage, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { openDatabase } from '../src/schema.ts';
import { databaseAt, execute, fileWith, freshFile, openAt, storageAt, untilReady } from './fixtures.ts';
import { startProcess } from './processes.ts';

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>();
  return { ...original, readFileSync: vi.fn(original.readFileSync), statfsSync: vi.fn(original.statfsSync) };
});

test('connections sync the log before a commit returns', () => {
  const { db } = openDatabase(freshFile());
  onTestFinished(() => db.close());
  const setting = (name: string) => db.prepare(`PRAGMA ${name}`).all().flat();
  expect(['journal_mode', 'synchronous', 'fullfsync'].flatMap(setting)).toEqual(['wal', 2n, 1n]);
});

test('a new file can be read and written by its owner alone, and so can its log', async () => {
  const { location: file } = await storageAt();
  const modes = ['', '-wal', '-shm'].map((suffix) => (statSync(file + suffix).mode & 0o777).toString(8));
  expect(modes).toEqual(['600', '600', '600']);
});

test('processes that open a new file at the same time create one pet for each idempotency key', async () => {
  const file = freshFile();
  const program =
    'await Promise.all(Array.from({ length: 200 }, (_, key) => addUntilStored(key))); await storage.close();';
  const running = Array.from({ length: 4 }, () => startProcess(file, program));
  const ids = await Promise.all(running.map(async ({ acknowledged }) => [...(await acknowledged())].sort()));
  for (const each of ids) expect(each).toEqual(ids[0]);
  expect(ids[0]).toHaveLength(200);
  expect(await everyPage((await storageAt(file)).pets)).toHaveLength(200);
});

test('a file that another process has locked exclusively is unavailable, until it is unlocked', async () => {
  const file = await fileWith(0);
  const other = databaseAt(file);
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
  const storage = await openAt(file);
  const calls = () => [storage.ready(), added(storage.pets), everyPage(storage.pets)];
  for (const outcome of await Promise.allSettled(calls())) {
    expect(outcome).toMatchObject({ reason: { code: 'storage_unavailable', cause: { errcode: 5 } } });
  }
  other.close();
  await untilReady(storage);
  await Promise.all(calls());
  expect(await everyPage(storage.pets)).toHaveLength(1);
});

test('a file that another process is writing can be opened and read', async () => {
  const file = await fileWith(1);
  databaseAt(file).exec('BEGIN IMMEDIATE');
  expect(await everyPage((await openAt(file)).pets)).toHaveLength(1);
});

test('ready writes as much as a creation, and changes no pets, keys and ids', async () => {
  const { pets, ready, location: file } = await storageAt();
  const other = databaseAt(file);
  /** The number of bytes that a write appends to an empty log. */
  const sizeOf = async (write: () => unknown) => {
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await write();
    return statSync(`${file}-wal`).size;
  };
  const sold = rex({ status: 'sold' });
  const creation = await sizeOf(() => added(pets, sold, idempotencyOf(sold, 'k')));
  expect(await sizeOf(() => ready())).toBe(creation);
  expect(await everyPage(pets)).toEqual([{ id: 1n, ...sold }]);
  expect((await added(pets)).id).toBe(2n);
});

describe('opening rejects in one line', () => {
  /** The reason why a file is rejected. */
  async function rejectionOf(file: string, options: { create?: boolean } = {}): Promise<string> {
    const { name, message } = await createSqliteStorage({ file, ...options }).then(
      () => new Error('accepted'),
      (error: Error) => error,
    );
    expect([name, message]).toEqual(['StorageMisconfigured', expect.not.stringContaining('\n')]);
    return message.replace(`${resolve(file)} cannot be used: `, '');
  }

  const FOREIGN = /^it is the database of another program, or of a version of Animal Store that was never published: /;

  test.each<[string, (file: string) => unknown, RegExp]>([
    ['that is text', (file) => writeFileSync(file, 'Rex, Max and Waldo. '.repeat(99)), /^it is not a SQLite database$/],
    ['of another program', execute('CREATE TABLE invoices (id)'), FOREIGN],
    ['never published', execute('PRAGMA application_id = 0x416e5374; PRAGMA user_version = 2'), FOREIGN],
    [
      'without an index',
      async (file) => execute('DROP INDEX pets_by_status')(await fileWith(1, file)),
      /^its index pets_by_status is missing, /,
    ],
  ])('a file %s, and leaves it as it is', async (_, make, reason) => {
    const file = freshFile();
    await make(file);
    const before = readFileSync(file);
    expect(await rejectionOf(file)).toMatch(reason);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test.each<[string, (file: string) => unknown, string | RegExp]>([
    ['a pipe', (file) => execFileSync('mkfifo', [file]), 'it must be a regular file'],
    [
      'a file on a network',
      () => vi.mocked(statfsSync).mockReturnValueOnce({ type: 0x6969 } as StatsFs),
      'it is on a network (NFS): put it on a local disk',
    ],
  ])('%s', async (_, make, reason) => {
    const file = freshFile();
    make(file);
    expect(await rejectionOf(file)).toMatch(reason);
  });

  test('a file that does not exist, if none may be created', async () => {
    const file = freshFile();
    expect(await rejectionOf(file, { create: false })).toBe(`there is no file ${file} that this user may see`);
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  test('each name of a file with a hard link, until one is left', async () => {
    const file = await fileWith(1);
    const link = `${file}.link`;
    linkSync(file, link);
    for (const name of [file, link]) {
      expect(await rejectionOf(name)).toMatch(
        /^it has a second name \(a hard link\): keep only the one with a log \(-wal\)/,
      );
    }
    rmSync(link);
    expect(await everyPage((await openAt(file)).pets)).toHaveLength(1);
  });

  test('a file that is mounted without its folder', async () => {
    const folder = join(dirname(freshFile()), 'my animals\\ours');
    mkdirSync(folder);
    const file = join(folder, 'animals.db');
    renameSync(await fileWith(1), file);
    const mountAt = (point: string) => `425 27 254:0 /root/animals.db ${point} rw,relatime - ext4 /dev/vda rw\n`;
    // A space and a backslash, as proc(5) shows them.
    const shown = file.replace('my animals\\', 'my\\040animals\\134');
    vi.mocked(readFileSync).mockReturnValueOnce(mountAt(dirname(shown)) + mountAt(shown));
    expect(await rejectionOf(file)).toBe('it is mounted without its log: mount its folder instead');
    vi.mocked(readFileSync).mockReturnValueOnce(mountAt(dirname(shown)));
    expect(await everyPage((await openAt(file)).pets)).toHaveLength(1);
  });

  test.each([':memory:', 'file:animals.db?mode=memory'])('the name %s, and makes no file', async (name) => {
    const cwd = process.cwd();
    process.chdir(dirname(freshFile()));
    onTestFinished(() => process.chdir(cwd));
    expect(await rejectionOf(name)).toMatch(/ is a name of SQLite, not a path: for a file of that name write \.\//);
    expect(readdirSync('.')).toEqual([]);
  });

  /** Modes of files don't bind the superuser. */
  async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
    if (process.geteuid?.() !== 0) return work();
    process.seteuid?.(65_534);
    return work().finally(() => process.seteuid?.(0));
  }

  test.each([
    ['that is read-only', 0o444, 0o777, 'this user may not write it or its log (-wal), or the disk is read-only'],
    ['that is not readable', 0o000, 0o777, /in a folder that exists, has space, and where this user may write$/],
    ['in a read-only folder', 0o666, 0o555, 'this user may not write its folder, where its log must be'],
  ])('a file %s', async (_, fileMode, folderMode, reason) => {
    const file = await fileWith(0);
    chmodSync(file, fileMode);
    chmodSync(dirname(file), folderMode);
    expect(await asOrdinaryUser(() => rejectionOf(file))).toMatch(reason);
  });
});

test('createSqliteStorage rejects an empty path by a TypeError', async () => {
  await expect(createSqliteStorage({ file: '' })).rejects.toThrow(new TypeError('file must be a path, was empty'));
});
