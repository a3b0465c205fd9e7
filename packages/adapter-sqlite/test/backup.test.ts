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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { added, everyPage, rex } from '@animal-store/adapter-contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import { adapter } from '../src/adapter.ts';
import { prefixOf } from '../src/partial.ts';
import { FORMAT, SCHEMA } from '../src/schema.ts';
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
    return [name, statSync(path, { throwIfNoEntry: false })?.isFile() && readFileSync(path, 'latin1')];
  });

const namesIn = async (file: string) => (await everyPage((await storageAt(file)).pets)).map(({ name }) => name);

/** Adds a table whose collation only the program knows that made it. */
function addForeignCollation(file: string): void {
  execute("CREATE TABLE zoos (name TEXT UNIQUE COLLATE NOCASE); INSERT INTO zoos VALUES ('a'), ('b')")(file);
  writeFileSync(file, readFileSync(file, 'latin1').replace('NOCASE', 'ZOOZOO'), 'latin1');
}

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
    const large = freshFile(tmpdir());
    copyFileSync(await fileWith(1), large);
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

  test.each<[string, (file: string) => unknown, RegExp]>([
    ['has a hard link', (file) => linkSync(file, `${file}.link`), /has a second name/],
    ['is damaged', (file) => writeFileSync(file, readFileSync(file).fill(0x5a, 4_096, 12_288)), /it is damaged/],
    ['is of another program', execute('PRAGMA application_id = 7'), /another program/],
    ['has another format', execute(`PRAGMA user_version = ${FORMAT + 1}`), /start a newer version/],
    [
      'has a collation of another program',
      addForeignCollation,
      /SQLite cannot copy it: no such collation sequence: ZOOZOO$/,
    ],
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
    ['the copy', 2, 1],
    ['the file', 1, 2],
  ])('gives ids above those of the pets if a tool has lost the counter of %s', async (lost, copied, own) => {
    const [source, file] = [await fileWith(copied), await fileWith(own)];
    execute('DELETE FROM sqlite_sequence')(lost === 'the copy' ? source : file);
    expect(await restore(await backup(source), file, 0n)).toBe(3n);
    expect((await added((await storageAt(file)).pets)).id).toBe(3n);
  });

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

  test.each<[bigint, bigint, bigint | RegExp]>([
    [2n, 2n ** 53n - 4n, 2n ** 53n - 1n],
    [
      2n,
      2n ** 53n - 3n,
      /^no id would be left: the last one is 2, and none is above 9007199254740991: skip fewer ids$/,
    ],
    [2n ** 53n - 2n, 0n, 2n ** 53n - 1n],
    [2n ** 53n - 1n, 0n, /^no id would be left: the last one is 9007199254740991, /],
  ])('to the last id %i that skips %i ids leaves one id or more, or is rejected', async (last, skipped, next) => {
    const file = await fileWith(2);
    const copy = await backup(file);
    execute(`UPDATE sqlite_sequence SET seq = ${last}`)(file);
    if (typeof next === 'bigint') {
      expect(await restore(copy, file, skipped)).toBe(next);
      expect((await added((await storageAt(file)).pets)).id).toBe(next);
    } else {
      const before = contents(file);
      const error = { name: 'DomainError', code: 'invalid', message: expect.stringMatching(next) };
      await expect(restore(copy, file, skipped)).rejects.toMatchObject(error);
      expect(contents(file)).toEqual(before);
    }
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
    ['has another format', (copy) => changed(copy, `PRAGMA user_version = ${FORMAT + 1}`), `has format ${FORMAT + 1}`],
    ['needs another SQLite', (copy) => Buffer.from(copy).fill(9, 44, 48), 'unsupported file format'],
    ['has another encoding', () => inUtf16(), 'attached databases must use the same text encoding'],
  ])('leaves everything as it was if the copy %s', async (_, change, reason) => {
    const file = await fileWith(1_000);
    const copy = Buffer.from(change(await backup(file)));
    const before = contents(file);
    const error = { name: 'DomainError', code: 'invalid', message: expect.stringMatching(`^the copy .*${reason}`) };
    await expect(restore(copy, file)).rejects.toMatchObject(error);
    expect(contents(file)).toEqual(before);
  });

  function inUtf16(): Buffer {
    const file = freshFile();
    const db = databaseAt(file);
    db.exec(`PRAGMA encoding = 'UTF-16'; ${SCHEMA}`);
    db.close();
    return readFileSync(file);
  }

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

  test.each<[string, (file: string) => unknown]>([
    ['the service makes a new one', () => {}],
    ['the service starts on another one in its place', (file) => copyFileSync(`${file}.old`, file)],
  ])('fails, and keeps acknowledged pets, if the file is moved away meanwhile, and %s', async (_, replace) => {
    const file = await fileWith(1);
    // SQLite writes a part of its pages before the end of the transaction.
    const large = await fileWith(0);
    execute(`
      WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 20000)
      INSERT INTO pets (name, category_id, created_at) SELECT printf('%0200d', id), 1, 0 FROM ids`)(large);
    const copy = await backup(large);
    const acknowledged: bigint[] = [];
    let kill = async () => {};
    async function* slowly() {
      renameSync(file, `${file}.old`);
      replace(file);
      const service = startProcess(file, 'await addFrom("key", 3); setInterval(() => {}, 1_000);');
      await service.underWay(3);
      kill = async () => {
        service.process.kill('SIGKILL');
        acknowledged.push(...(await service.acknowledged()).values());
      };
      yield copy;
    }
    await expect(adapter.restore?.(file, slowly(), 0n)).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: { message: expect.stringContaining('it was moved, deleted or replaced meanwhile') },
    });
    await kill();
    expect(acknowledged).toHaveLength(3);
    const { pets } = await storageAt(file);
    for (const id of acknowledged) expect(await pets.find(id)).toMatchObject({ name: 'Rex' });
    expect(await namesIn(`${file}.old`)).toEqual(['Rex']);
  });

  test.each([
    ['fails', 'yield Buffer.from("Rex")'],
    ['is killed', "writeSync(1, 'locked 0\\n'); await new Promise(() => setInterval(() => {}, 1_000))"],
  ])(
    'leaves no more than an empty file, which the service takes for a new one, if there was none and it %s',
    async (_, act) => {
      const file = freshFile();
      const other = startProcess(
        freshFile(),
        `const { adapter } = await import('./src/adapter.ts');
       async function* copy() { ${act}; }
       await adapter.restore('${file}', copy(), 0n).catch(() => process.exit());`,
      );
      if (act.includes('locked')) {
        await other.underWay(1);
        other.process.kill('SIGKILL');
      }
      await other.acknowledged();
      const { pets } = await storageAt(file);
      expect((await added(pets)).id).toBe(1n);
    },
  );

  test('fills an empty file', async () => {
    const file = freshFile();
    writeFileSync(file, '');
    await restore(await backup(await fileWith(2)), file);
    expect(await namesIn(file)).toHaveLength(2);
  });

  test.each<[string, (file: string) => unknown, string]>([
    ['without its file', (file) => rmSync(file), ''],
    ['of an empty file', (file) => writeFileSync(file, ''), ''],
    ['without the file of a link', (file) => [rmSync(file), symlinkSync(file, `${file}.link`)], '.link'],
    [
      'without the file of a link to a link',
      (file) => [rmSync(file), symlinkSync(file, `${file}.1`), symlinkSync(`${file}.1`, `${file}.link`)],
      '.link',
    ],
  ])(
    'rejects, and keeps, a log %s, which may have the newest pets, as a storage and a backup do',
    async (_, lose, suffix) => {
      const file = await killed(3);
      const [copy, original] = [await backup(await fileWith(1)), readFileSync(file)];
      lose(file);
      const left = contents(file);
      for (const use of [restore.bind(null, copy), openAt, backup]) {
        await expect(use(file + suffix)).rejects.toMatchObject({
          name: 'StorageMisconfigured',
          message: expect.stringMatching(/its log \(-wal\) is not: put the file back, or move the log away$/),
        });
        expect(contents(file)).toEqual(left);
      }
      writeFileSync(file, original);
      expect(await namesIn(file)).toEqual(['Max', 'Max', 'Max']);
    },
  );

  test('replaces a file of a newer format, for the way back from an upgrade', async () => {
    const file = await fileWith(2);
    const copy = await backup(file);
    execute(`ALTER TABLE pets ADD COLUMN age INTEGER; DROP INDEX pets_by_status; PRAGMA user_version = ${FORMAT + 1}`)(
      file,
    );
    expect(await restore(copy, file, 0n)).toBe(3n);
    expect(await namesIn(file)).toHaveLength(2);
  });

  test('keeps the tables of others in the file, also those that refer to pets', async () => {
    const file = await fileWith(1);
    const copy = await backup(file);
    execute('CREATE TABLE notes (pet INTEGER REFERENCES pets); INSERT INTO notes VALUES (1)')(file);
    await restore(copy, file);
    expect(databaseAt(file).prepare('SELECT pet FROM notes').all()).toEqual([{ pet: 1 }]);
  });

  const CANNOT_REPLACE = /its content \([^\n]+\): move it and its log \(-wal\) away, and restore again$/;
  const damage = (file: string, start: number, end: number) =>
    writeFileSync(file, readFileSync(file).fill(0x5a, start, end));
  const contentOf = (file: string) => readFileSync(file, 'latin1');

  test.each<[string, (file: string) => unknown, RegExp]>([
    ['has a hard link', (file) => linkSync(file, `${file}.link`), /has a second name/],
    ['is of another program', execute('PRAGMA application_id = 7'), /another program: name another file/],
    ['is text', (file) => writeFileSync(file, 'Rex, Max and Waldo. '.repeat(99)), CANNOT_REPLACE],
    ['has a damaged page', (file) => damage(file, 8_192, 12_288), CANNOT_REPLACE],
    ['has a damaged schema', (file) => damage(file, 100, 4_096), CANNOT_REPLACE],
    ['needs another SQLite', (file) => damage(file, 44, 48), CANNOT_REPLACE],
    ['has a view of the name pets', execute('DROP TABLE pets; CREATE VIEW pets AS SELECT 1 AS id'), CANNOT_REPLACE],
    [
      'has another table whose index has the name of ours',
      execute('DROP INDEX pets_by_status; CREATE TABLE dogs (name); CREATE INDEX pets_by_status ON dogs (name)'),
      CANNOT_REPLACE,
    ],
    ['is a folder', (file) => [rmSync(file), mkdirSync(file)], /it must be a regular file/],
  ])('rejects in one line, and changes nothing, if the file %s', async (_, make, line) => {
    const file = await fileWith(100);
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

    test('is rejected for a user who may not write the file', async () => {
      const file = await fileWith(1);
      const copy = await backup(file);
      chmodSync(dirname(file), 0o777);
      chmodSync(file, 0o644);
      process.seteuid?.(65_534);
      onTestFinished(() => process.seteuid?.(0));
      await expect(restore(copy, file)).rejects.toMatchObject(misconfigured(/this user may not write it/));
      process.seteuid?.(0);
      expect(await namesIn(file)).toEqual(['Rex']);
    });
  });
});

describe('a partial copy that SIGKILL has left', () => {
  const HOUR = 3_600;
  const RANDOM = '0123456789abcdef';

  /** Files in the folder of a file that were written so many seconds ago. */
  function leave(file: string, age: number, ...names: string[]): void {
    const time = Date.now() / 1_000 - age;
    for (const name of names) {
      const path = join(dirname(file), name);
      writeFileSync(path, 'Rex');
      utimesSync(path, time, time);
    }
  }
  const beside = (file: string) => readdirSync(dirname(file)).filter((name) => name !== basename(file));

  test('is removed by the backup of the next night', async () => {
    const file = await fileWith(1);
    const prefix = prefixOf(file);
    leave(file, 23 * HOUR, `${prefix}restore`, prefix + RANDOM);
    await backup(file);
    expect(beside(file)).toEqual([]);
  });

  test('is removed by the next restore if a restore has left it', async () => {
    const file = await fileWith(1);
    const copy = await backup(file);
    leave(file, 0, `${prefixOf(file)}restore`);
    await restore(copy, file);
    expect(beside(file)).toEqual([]);
  });

  test('is not mistaken for that of a running backup, or for the file of somebody else', async () => {
    const file = await fileWith(1);
    const prefix = prefixOf(file);
    leave(file, 11 * HOUR, prefix + RANDOM);
    leave(file, 216 * HOUR, `${prefix}2026-11-26`, prefixOf(`${file}2`) + RANDOM, prefix);
    const before = beside(file);
    await backup(file);
    expect(beside(file)).toEqual(before);
  });
});

test('a file whose name is as long as SQLite allows is backed up and restored', async () => {
  const folder = dirname(freshFile());
  // Its journal needs eight bytes of the 255 that a name may have.
  const file = await fileWith(2, join(folder, 'n'.repeat(247)));
  const copy = await backup(file);
  expect(await restore(copy, file, 0n)).toBe(3n);
  expect(await namesIn(file)).toHaveLength(2);
});

test('two backups at once are whole', async () => {
  const file = await fileWith(100);
  const copies = await Promise.all([backup(file), backup(file)]);
  for (const copy of copies) expect(await restore(copy, freshFile(), 0n)).toBe(101n);
});
