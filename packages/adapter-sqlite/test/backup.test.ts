import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
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
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { added, everyPage, rex } from '@animal-store/adapter-contract';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { adapter } from '../src/adapter.ts';
import { createPartial } from '../src/partial.ts';
import { databaseAt, execute, fileWith, freshFile, misconfigured, openAt, storageAt } from './fixtures.ts';
import { startProcess } from './processes.ts';

async function backup(file: string): Promise<Buffer> {
  const { size, content } = (await adapter.backup?.(file)) ?? { size: 0, content: [] };
  const copy = await buffer(content as AsyncIterable<Buffer>);
  expect(copy.length).toBe(size);
  return copy;
}

const restore = (copy: Buffer, file: string, skippedIds = 1_000_000n) =>
  adapter.restore?.(file, Readable.from([copy]), skippedIds);

/** Everything in the folder of a file, by name. */
const contents = (file: string) =>
  readdirSync(dirname(file), { recursive: true }).map((name) => {
    const path = join(dirname(file), String(name));
    return [name, statSync(path).isFile() && readFileSync(path, 'latin1')];
  });

const namesIn = async (file: string) => (await everyPage((await storageAt(file)).pets)).map(({ name }) => name);

/** A file and the log that a killed process leaves. */
async function killed(pets: number): Promise<string> {
  const [file, copy] = [freshFile(), freshFile()];
  const { pets: repository, close } = await storageAt(file);
  for (let count = 0; count < pets; count += 1) await added(repository, rex({ name: 'Max' }));
  for (const part of ['', '-wal']) copyFileSync(file + part, copy + part);
  await close();
  return copy;
}

describe('a backup', () => {
  test('is whole while another process commits, and restored where a process was killed', async () => {
    // It takes long to copy.
    const large = await fileWith(1, freshFile(tmpdir()));
    execute('CREATE TABLE filler AS SELECT randomblob(40000000)')(large);
    const writer = startProcess(large, 'for (let key = 0; ; key += 1) await addUntilStored(key);');
    await writer.underWay(1);
    const copy = await backup(large);
    expect(writer.process.exitCode).toBeNull();

    const file = await killed(3);
    await restore(copy, file);
    const database = databaseAt(file, { readOnly: true });
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(
      new Set(
        database
          .prepare('SELECT name FROM pets')
          .all()
          .map(({ name }) => name),
      ),
    ).toEqual(new Set(['Rex']));
  });

  test('has pets that are in the log only, and of a file that is named by a link', async () => {
    const [file, link] = [await killed(2), `${freshFile()}.link`];
    symlinkSync(file, link);
    const restored = freshFile();
    await restore(await backup(link), restored);
    expect(await namesIn(restored)).toEqual(['Max', 'Max']);
  });

  test('leaves nothing beside the file before it is read', async () => {
    const file = await fileWith(1);
    const before = contents(file);
    const { content } = (await adapter.backup?.(file)) ?? {};
    expect(contents(file)).toEqual(before);
    (content as Readable).destroy();
  });

  test('works beside Litestream, which adds tables and always holds a read transaction', async () => {
    const { pets, location: file, close } = await storageAt();
    await added(pets);
    const litestream = new DatabaseSync(file);
    litestream.exec(`
      CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
      CREATE TABLE _litestream_lock (id INTEGER);
      BEGIN; SELECT * FROM _litestream_seq`);
    await added(pets, rex({ name: 'Max' }));
    await close();
    const copy = await backup(file);
    litestream.close();
    await restore(copy, file);
    expect(await namesIn(file)).toEqual(['Rex', 'Max']);
  });

  test.each<[string, (file: string) => unknown, RegExp]>([
    ['has a hard link', (file) => linkSync(file, `${file}.link`), /has a second name/],
    ['is damaged', (file) => writeFileSync(file, readFileSync(file).fill(0x5a, 4_096, 12_288)), /it is damaged/],
    ['is of another program', execute('PRAGMA application_id = 7'), /another program/],
    ['has another format', execute('PRAGMA user_version = 2'), /start a newer version/],
  ])('fails with one line, and leaves nothing, if the file %s', async (_, make, line) => {
    const file = await fileWith(100);
    make(file);
    const before = contents(file);
    await expect(backup(file)).rejects.toMatchObject(
      /damaged/.test(String(line)) ? misconfigured(line) : { message: expect.stringMatching(line) },
    );
    expect(contents(file)).toEqual(before);
  });

  test('fails if there is no file', async () => {
    const file = freshFile();
    await expect(backup(file)).rejects.toMatchObject({
      name: 'StorageMisconfigured',
      message: expect.stringMatching(/^there is no file /),
    });
    expect(contents(file)).toEqual([]);
  });
});

describe('a restore', () => {
  test.each([
    ['has pets', 2, 1_000_000n, 1_000_004n],
    ['has no pets', 0, 1_000_000n, 1_000_002n],
    ['is restored without skipped ids', 2, 0n, 4n],
  ])('gives ids above those of the copy and of the file, if the copy %s', async (_, pets, skipped, next) => {
    const file = await fileWith(pets);
    const copy = await backup(file);
    await fileWith(1, file);
    expect(await restore(copy, file, skipped)).toBe(next);
    expect((await added((await storageAt(file)).pets)).id).toBe(next);
  });

  test('of the same backup a second time gives no id again', async () => {
    const file = await fileWith(1);
    const copy = await backup(file);
    const ids = new Set<bigint>();
    for (let count = 0; count < 3; count += 1) {
      await restore(copy, file, count === 0 ? 1_000_000n : 0n);
      const storage = await storageAt(file);
      ids.add((await added(storage.pets)).id);
      await storage.close();
    }
    expect(ids.size).toBe(3);
  });

  test.each<[string, (copy: Buffer) => Buffer | string, string]>([
    ['is empty', () => '', 'it is empty'],
    ['is something else', () => 'name,categoryId\n', 'it is damaged, or not whole'],
    ['is cut', (copy) => copy.subarray(0, copy.length - 1), 'it is damaged, or not whole'],
    ['lacks half of it', (copy) => copy.subarray(0, copy.length / 2), 'it is damaged, or not whole'],
    ['is damaged', (copy) => Buffer.from(copy).fill(0x5a, 8_192, 12_288), 'it is damaged, or not whole'],
    [
      'is of another program',
      (copy) => changed(copy, 'PRAGMA application_id = 7'),
      'it is the database of another program',
    ],
    ['has another format', (copy) => changed(copy, 'PRAGMA user_version = 2'), 'has format 2'],
  ])('leaves everything as it was if the copy %s', async (_, change, reason) => {
    const file = await fileWith(1_000);
    const copy = Buffer.from(change(await backup(file)));
    const before = contents(file);
    const error = { name: 'DomainError', code: 'invalid', message: expect.stringMatching(`^the copy .*${reason}`) };
    await expect(restore(copy, file)).rejects.toMatchObject(error);
    expect(contents(file)).toEqual(before);
  });

  function changed(copy: Buffer, sql: string): Buffer {
    const file = freshFile();
    writeFileSync(file, copy);
    execute(sql)(file);
    return readFileSync(file);
  }

  test('fails while another process has the file open, and works when it has ended', async () => {
    const file = await fileWith(1);
    const copy = await backup(file);
    const idle = startProcess(file, "writeSync(1, 'open 0\\n'); setInterval(() => {}, 1_000);");
    await idle.underWay(1);
    const inUse = {
      code: 'storage_unavailable',
      cause: { message: expect.stringContaining('another process has it open') },
    };
    await expect(restore(copy, file)).rejects.toMatchObject(inUse);
    // It still holds its locks.
    idle.process.kill('SIGSTOP');
    await expect(restore(copy, file)).rejects.toMatchObject(inUse);
    idle.process.kill('SIGKILL');
    await idle.acknowledged();
    await restore(copy, file);
    expect(await namesIn(file)).toEqual(['Rex']);
  });

  test.each([
    ['opening the file', 1],
    ['creating a file', 0],
  ])('keeps the service from %s meanwhile', async (_, pets) => {
    const copy = await backup(await fileWith(1));
    const file = pets === 0 ? freshFile() : await fileWith(pets);
    const outcomes: unknown[] = [];
    async function* slowly() {
      const storage = await openAt(file);
      outcomes.push(await storage.pets.find(1n).catch(({ code }) => code));
      yield copy;
    }
    await adapter.restore?.(file, slowly(), 0n);
    expect(outcomes).toEqual(['storage_unavailable']);
    expect(await namesIn(file)).toEqual(['Rex']);
  });

  test('fails, and keeps acknowledged pets, if the file is moved away meanwhile and the service makes a new one', async () => {
    const file = await fileWith(1);
    const copy = await backup(file);
    async function* slowly() {
      renameSync(file, `${file}.old`);
      const { pets } = await storageAt(file);
      await added(pets, rex({ name: 'Max' }));
      yield copy;
    }
    await expect(adapter.restore?.(file, slowly(), 0n)).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: { message: expect.stringContaining('it was moved, deleted or replaced meanwhile') },
    });
    expect(await namesIn(file)).toEqual(['Max']);
    expect(await namesIn(`${file}.old`)).toEqual(['Rex']);
  });

  test('leaves no file if there was none and the copy is damaged', async () => {
    const file = freshFile();
    await expect(restore(Buffer.from('Rex'), file)).rejects.toMatchObject({ code: 'invalid' });
    expect(contents(file)).toEqual([]);
  });

  test('replaces the empty file that a killed restore leaves', async () => {
    const [file, copy] = [freshFile(), await backup(await fileWith(1))];
    const killed = startProcess(
      freshFile(),
      `const { adapter } = await import('./src/adapter.ts');
       async function* slowly() { writeSync(1, 'locked 0\\n'); await new Promise(() => setInterval(() => {}, 1_000)); }
       await adapter.restore('${file}', slowly(), 0n);`,
    );
    await killed.underWay(1);
    killed.process.kill('SIGKILL');
    await killed.acknowledged();
    await restore(copy, file);
    expect(await namesIn(file)).toEqual(['Rex']);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['a damaged page', (bytes) => bytes.fill(0x5a, 8_192, 12_288)],
    ['a damaged schema', (bytes) => bytes.fill(0x5a, 100, 4_096)],
    ['no content', () => Buffer.of()],
  ])('replaces a file that has %s', async (_, damage) => {
    const file = await fileWith(100);
    const copy = await backup(file);
    writeFileSync(file, damage(readFileSync(file)));
    await restore(copy, file);
    expect(await namesIn(file)).toHaveLength(100);
  });

  test('ignores the log of a file that was moved away', async () => {
    const [file, other] = [await killed(3), await fileWith(1)];
    rmSync(file);
    await restore(await backup(other), file);
    expect(await namesIn(file)).toEqual(['Rex']);
  });

  const contentOf = (file: string) => readFileSync(file, 'latin1');

  test.each<[string, (file: string) => unknown, RegExp]>([
    ['has a hard link', (file) => linkSync(file, `${file}.link`), /has a second name/],
    ['is of another program', execute('PRAGMA application_id = 7'), /another program: name another file/],
    ['is text', (file) => writeFileSync(file, 'Rex, Max and Waldo. '.repeat(99)), /move it and its log \(-wal\) away/],
    ['is a folder', (file) => [rmSync(file), mkdirSync(file)], /it must be a regular file/],
    ['is a link to no file', (file) => [rmSync(file), symlinkSync('none', file)], /it is a link to no file/],
  ])('rejects in one line, and changes nothing, if the file %s', async (_, make, line) => {
    const file = await fileWith(1);
    const copy = await backup(file);
    make(file);
    const before = existsSync(file) && statSync(file).isFile() ? contentOf(file) : null;
    await expect(restore(copy, file)).rejects.toMatchObject({
      name: 'StorageMisconfigured',
      message: expect.stringMatching(line),
    });
    if (before !== null) expect(contentOf(file)).toBe(before);
    expect(readdirSync(dirname(file)).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('makes a file that the service can open and write while a backup reads it', async () => {
    const file = freshFile();
    await restore(await backup(await fileWith(1)), file);
    const reader = databaseAt(file);
    reader.exec('BEGIN; SELECT * FROM pets');
    await added((await storageAt(file)).pets, rex({ name: 'Max' }));
    expect(await namesIn(file)).toEqual(['Rex', 'Max']);
  });

  test('keeps a link a link', async () => {
    const [file, link] = [await fileWith(0), freshFile()];
    symlinkSync(file, link);
    await restore(await backup(await fileWith(2)), link);
    expect(readlinkSync(link)).toBe(file);
    expect(await namesIn(file)).toHaveLength(2);
  });

  const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

  test('makes a new file for this user alone, and keeps the mode of one that exists', async () => {
    const copy = await backup(await fileWith(1));
    const file = freshFile();
    await restore(copy, file);
    expect(mode(file)).toBe('600');
    chmodSync(file, 0o660);
    await restore(copy, file);
    expect(mode(file)).toBe('660');
  });

  describe.runIf(process.geteuid?.() === 0)('as the superuser', () => {
    test('keeps the owner of the file, who can open it', async () => {
      const file = await fileWith(1);
      chownSync(dirname(file), 0, 65_534);
      chownSync(file, 65_534, 65_533);
      await restore(await backup(file), file);
      const { uid, gid } = statSync(file);
      expect([uid, gid, mode(file)]).toEqual([65_534, 65_533, '600']);
    });

    test('is not for another user than the owner of the file', async () => {
      const file = await fileWith(1);
      const copy = await backup(file);
      chmodSync(dirname(file), 0o777);
      chmodSync(file, 0o666);
      process.seteuid?.(65_534);
      onTestFinished(() => process.seteuid?.(0));
      await expect(restore(copy, file)).rejects.toMatchObject({
        message: expect.stringContaining('it belongs to user 0: run the command as '),
      });
    });
  });

  test('changes neither owner nor mode if they are right, because some file systems allow no change', async () => {
    const file = await fileWith(1);
    const copy = await backup(file);
    vi.mocked(chownSync).mockClear();
    vi.mocked(chmodSync).mockClear();
    await restore(copy, file);
    expect([vi.mocked(chownSync).mock.calls, vi.mocked(chmodSync).mock.calls]).toEqual([[], []]);
  });
});

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>();
  return { ...original, chownSync: vi.fn(original.chownSync), chmodSync: vi.fn(original.chmodSync) };
});

test("a backup keeps a folder that is named like a partial copy, and isn't one", async () => {
  const file = await fileWith(1);
  const folder = `${file}.partial-2026-11-26`;
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.txt'), 'Rex');
  await backup(file);
  expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('Rex');
});

test('a partial copy is removed by the next backup or restore if its process was killed, and not while it runs', async () => {
  const file = await fileWith(1);
  const copy = await backup(file);
  using running = createPartial(file);
  const hold = `
    const { createPartial } = await import('./src/partial.ts');
    createPartial(process.env.SQLITE_FILE);
    await storage.close();
    writeSync(1, 'made 0\\n');
    setInterval(() => {}, 1_000);`;
  const partials = () => readdirSync(dirname(file)).filter((name) => name.includes('.partial-'));
  for (const command of [() => backup(file), () => restore(copy, file)]) {
    const other = startProcess(file, hold);
    await other.underWay(1);
    expect(partials()).toHaveLength(2);
    await backup(file);
    expect(partials()).toHaveLength(2);
    other.process.kill('SIGKILL');
    await other.acknowledged();
    await command();
    expect(partials()).toHaveLength(1);
  }
  expect(existsSync(dirname(running.path))).toBe(true);
});
