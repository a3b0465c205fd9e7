import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openFile } from '../src/connection/open-file.ts';
import { createSqliteStorage } from '../src/index.ts';
import { addTo, databaseAt, everyPet, fileWith, freshFile, rex, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

test('connections sync the log before a commit returns', () => {
  const db = openFile(freshFile());
  onTestFinished(() => db.close());
  const setting = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {});
  expect(['journal_mode', 'synchronous', 'fullfsync'].flatMap(setting)).toEqual(['wal', 2, 1]);
});

describe('a new file', () => {
  const modesOf = (file: string) =>
    ['', '-wal', '-shm'].map((suffix) => (statSync(file + suffix).mode & 0o777).toString(8));

  test('can be read and written by its owner alone, and so can its log', async () => {
    const file = freshFile();
    await addTo(storageAt(file), rex);
    expect(modesOf(file)).toEqual(['600', '600', '600']);
  });

  test('retains the mode that its operator sets', async () => {
    const file = await fileWith(0);
    chmodSync(file, 0o660);
    await addTo(storageAt(file), rex);
    expect(modesOf(file)).toEqual(['660', '660', '660']);
  });

  test('is unavailable on a full disk', async () => {
    const program = `
      const { code, cause } = await storage.ready().catch((error) => error);
      writeSync(1, code + ' ' + cause.errcode + '\\n');
    `;
    // The disk has space for a page.
    const outcome = await startProcess(freshFile(), program, '8').acknowledged();
    expect([...outcome.keys()]).toEqual(['storage_unavailable']);
  });
});

test('processes that open a new file at the same time create one pet for each idempotency key', async () => {
  const file = freshFile();
  const program = 'await Promise.all(Array.from({ length: 200 }, (_, key) => addUntilStored(key)));';
  const running = Array.from({ length: 4 }, () => startProcess(file, program));
  const [first, ...others] = await Promise.all(running.map(({ acknowledged }) => acknowledged()));
  expect(first?.size).toBe(200);
  for (const other of others) expect(new Map([...other].sort())).toEqual(new Map([...(first ?? [])].sort()));
  expect(await everyPet(storageAt(file))).toHaveLength(200);
});

test('a file that another process has locked exclusively is unavailable within 5 seconds, until it is unlocked', {
  retry: 2,
}, async () => {
  const file = await fileWith(0);
  const other = databaseAt(file);
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
  const begin = performance.now();
  const storage = storageAt(file);
  expect(performance.now() - begin).toBeLessThan(500);
  const calls = () => [storage.ready(), addTo(storage, rex), everyPet(storage)];
  for (const outcome of await Promise.allSettled(calls())) {
    expect(outcome).toMatchObject({ reason: { code: 'storage_unavailable' } });
  }
  expect(performance.now() - begin).toBeLessThan(5_000);
  const waiting = Promise.all(calls());
  await new Promise((resolve) => setTimeout(resolve, 200));
  other.close();
  await waiting;
  expect(await everyPet(storage)).toHaveLength(1);
});

test('a file that another process is writing can be read at once, and written when the lock is released', async () => {
  const file = await fileWith(1);
  const other = databaseAt(file);
  other.exec('BEGIN IMMEDIATE');
  const storage = storageAt(file);
  expect(await everyPet(storage)).toHaveLength(1);
  const creating = addTo(storage, rex);
  other.exec('ROLLBACK');
  expect(await creating).toMatchObject({ id: 2n });
});

test('ready writes as much as a creation, and changes no pets, keys and ids', async () => {
  const file = freshFile();
  const storage = storageAt(file);
  const other = databaseAt(file);
  const changes = () => other.prepare('PRAGMA data_version').get()?.['data_version'];
  for (let id = 1n; id <= 3n; id += 1n) {
    const before = changes();
    await storage.ready();
    expect(changes()).not.toBe(before);
    expect(await addTo(storage, rex)).toEqual({ id, ...rex });
  }
  /** The number of bytes that a write appends to an empty log. */
  const sizeOf = async (write: () => unknown) => {
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await write();
    return statSync(`${file}-wal`).size;
  };
  const idempotency = { holder: 'the zoo', key: 'k', fingerprint: 'f' };
  expect(await sizeOf(() => storage.ready())).toBe(
    await sizeOf(() => addTo(storage, { ...rex, status: 'sold' }, idempotency)),
  );
});

describe('opening rejects in one line', () => {
  /** The reason why a file is rejected. */
  function rejectionOf(file: string): string {
    try {
      void createSqliteStorage({ file }).close();
    } catch (error) {
      const { message } = error as Error;
      expect(message).not.toContain('\n');
      expect(message.startsWith(`${resolve(file)} cannot be used: `)).toBe(true);
      return message.slice(`${resolve(file)} cannot be used: `.length);
    }
    throw new Error('accepted');
  }

  test.each([
    ['a folder', (file: string) => mkdirSync(file)],
    ['a device', (file: string) => symlinkSync('/dev/null', file)],
    ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
  ])('%s', (_, make) => {
    const file = freshFile();
    make(file);
    expect(rejectionOf(file)).toBe('it must be a regular file');
  });

  test.each([':memory:', 'file:animals.db?mode=memory'])('the name %s, and makes no file', (name) => {
    const cwd = process.cwd();
    process.chdir(dirname(freshFile()));
    onTestFinished(() => process.chdir(cwd));
    expect(rejectionOf(name)).toBe(`it is a name of SQLite, not a path: for a file of that name write ./${name}`);
    expect(readdirSync('.')).toEqual([]);
  });

  test('an empty path', () => {
    expect(rejectionOf('')).toBe('it must be a regular file');
  });

  test('a file in a folder that does not exist', () => {
    expect(rejectionOf(join(freshFile(), 'animals.db'))).toMatch(/^it must be a file in a folder that exists/);
  });

  test('a file that is not a database, and leaves it as it is', () => {
    const file = freshFile();
    const text = 'Rex, Max and Waldo. '.repeat(100);
    writeFileSync(file, text);
    expect(rejectionOf(file)).toBe('it is not a SQLite database');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each([
    'CREATE TABLE invoices (id)',
    'PRAGMA user_version = 1',
    'PRAGMA application_id = 7',
    // This file is of a version that was never published.
    'PRAGMA application_id = 0x416e5374; PRAGMA user_version = 2',
    'PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE pets (id, name)',
  ])('the database of another program, and leaves it as it is: %s', (sql) => {
    const file = freshFile();
    const db = databaseAt(file);
    db.exec(sql);
    db.close();
    const before = readFileSync(file);
    expect(rejectionOf(file)).toMatch(
      /^it is the database of another program, or of a version of Animal Store that was never published: /,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  /** Modes of files don't bind the superuser. */
  function asOrdinaryUser<T>(work: () => T): T {
    if (process.geteuid?.() !== 0) return work();
    process.seteuid?.(65_534);
    try {
      return work();
    } finally {
      process.seteuid?.(0);
    }
  }

  test.each([
    ['that is read-only', 0o444, 0o777, 'this user may not write it'],
    ['that is not readable', 0o000, 0o777, /where this user may write$/],
    ['in a read-only folder', 0o666, 0o555, /may not write it$|where this user may write$/],
  ])('a file %s', async (_, fileMode, folderMode, reason) => {
    const file = await fileWith(0);
    chmodSync(file, fileMode);
    chmodSync(dirname(file), folderMode);
    expect(asOrdinaryUser(() => rejectionOf(file))).toMatch(reason);
  });

  test('a new file in a read-only folder', () => {
    const folder = join(dirname(freshFile()), 'folder');
    mkdirSync(folder, { mode: 0o555 });
    chmodSync(dirname(folder), 0o755);
    expect(asOrdinaryUser(() => rejectionOf(join(folder, 'animals.db')))).toMatch(/where this user may write$/);
  });
});
