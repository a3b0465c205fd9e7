import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { freshDatabaseFile } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../test/command-line.ts';

/** The words that create a pet once, also if they are repeated. */
const create = () => ['pets', 'create', '--name', 'Rex', '--category-id', '1', '--idempotency-key', randomUUID()];

/** The command line on a file with one pet. */
async function withPet(hasTerminal = false) {
  const file = freshDatabaseFile();
  const program = commandLine({ environment: { SQLITE_FILE: file }, hasTerminal });
  await program.run(...create());
  const idOf = async () => JSON.parse((await program.run(...create()))[0] ?? '').id;
  return { ...program, file, idOf };
}

/** The one line of a command that has failed. */
const failed = (line: string | RegExp, code = 1) => ({ code, out: '', err: expect.stringMatching(line) });

describe('backup and restore', () => {
  test('write a copy to standard output, and restore it from standard input', async () => {
    const { runWith, run, backup, idOf } = await withPet();
    const { bytes, err } = await backup();
    expect(err).toBe('');
    await run(...create());
    expect(await runWith(bytes, 'restore')).toMatchObject({ code: 0, out: '{"nextId":1000003}\n', err: '' });
    expect(await run('pets', 'list')).toHaveLength(1);
    expect(await idOf()).toBe(1_000_003);
    expect((await runWith(bytes, 'restore', '--skip-ids', '0')).out).toBe('{"nextId":1000004}\n');
  });

  test('draw progress on a terminal, and erase it', async () => {
    const { runWith, backup } = await withPet(true);
    const { bytes, err } = await backup();
    const drawn = err.split('\r\u001b[K');
    expect([drawn[1], drawn.at(-1)]).toEqual(['makes and checks the copy', '']);
    expect(drawn.at(-2)).toMatch(/^\[#{20}\] 0\.0 MB of 0\.0 MB, /);
    const restored = await runWith(bytes, 'restore');
    expect(restored.err.split('\r\u001b[K').at(-1)).toBe('');
  });

  test('reject a terminal in the place of a file', async () => {
    const { run, runWith } = await withPet();
    const onTerminal = commandLine({ environment: { SQLITE_FILE: freshDatabaseFile() }, isTTY: true });
    const line =
      /^animal-store: the copy would be .* the terminal: name a file, as in animal-store \w+ [<>]copy(\.new)?\n$/;
    expect(await onTerminal.runWith('', 'backup')).toMatchObject(failed(line, 2));
    expect(await runWith(Object.assign(new Readable(), { isTTY: true }), 'restore')).toMatchObject(failed(line, 2));
    expect(await run('pets', 'list')).toHaveLength(1);
  });

  test.each(['', '-wal'])('reject the storage itself as its copy, and keep its pets: animals.db%s', async (suffix) => {
    const { runWith, run, file } = await withPet();
    using reader = new DatabaseSync(file);
    // It keeps the log.
    reader.exec('BEGIN; SELECT * FROM pets');
    await run(...create());
    const input = createReadStream('', { fd: openSync(file + suffix, 'r') });
    onTestFinished(() => void input.destroy());
    expect(await runWith(input, 'restore')).toMatchObject(
      failed(/^animal-store: the copy would be read from the storage itself: [^\n]+\n$/, 2),
    );
    expect(await run('pets', 'list')).toHaveLength(2);
  });

  test.each([
    ['postgres://localhost/animals', /^animal-store: backups of PostgreSQL .* other tools: pg_dump and pg_restore\n$/],
    ['mongodb://localhost/animals', /^animal-store: backups of MongoDB .* other tools: mongodump and mongorestore\n$/],
  ])('name the tools of a server at %s', async (url, line) => {
    const environment = url.startsWith('m') ? { MONGODB_URL: url } : { POSTGRES_URL: url };
    for (const command of ['backup', 'restore']) {
      expect(await commandLine({ environment }).runWith('', command)).toMatchObject(failed(line));
    }
  });

  test('blame the copy, the input or the file', async () => {
    const { runWith, backup, file } = await withPet();
    expect(await runWith('Rex', 'restore')).toMatchObject(failed(/^animal-store: the copy cannot be used: [^\n]+\n$/));
    const { bytes } = await backup();
    // Where SQLite keeps the format (https://sqlite.org/fileformat.html, 1.3).
    const later = bytes.readUInt32BE(60) + 1;
    bytes.writeUInt32BE(later, 60);
    expect(await runWith(bytes, 'restore')).toMatchObject(
      failed(`^animal-store: the copy has format ${later}[^\n]+\n$`),
    );
    const broken = new Readable({ read: () => void broken.destroy(new Error('the link is down')) });
    expect(await runWith(broken, 'restore')).toMatchObject(
      failed('^animal-store: the standard input cannot be read: the link is down\n$'),
    );
    const user = new DatabaseSync(file);
    user.exec('BEGIN; SELECT * FROM pets');
    expect(await runWith('', 'restore')).toMatchObject(
      failed(`^animal-store: the storage at ${file} is unavailable: another process has it open: [^\n]+\n$`),
    );
    user.close();
    writeFileSync(file, 'Rex');
    expect(await runWith('', 'restore')).toMatchObject(
      failed(/^animal-store: SQLITE_FILE: .*animals\.db cannot be used: [^\n]+\n$/, 2),
    );
    const none = commandLine({ environment: { SQLITE_FILE: '/no/animals.db' } });
    expect(await none.runWith('', 'backup')).toMatchObject(failed(/^animal-store: SQLITE_FILE: there is no file /, 2));
    expect(await none.runWith('', 'restore')).toMatchObject(
      failed(/^animal-store: SQLITE_FILE: \/no\/animals\.db cannot be used: [^\n]+\n$/, 2),
    );
    expect(readdirSync(dirname(file))).toEqual(['animals.db']);
  });

  test.each(['-1', '1.5', '1000000000000', 'all'])('reject --skip-ids %s', async (ids) => {
    const { runWith } = await withPet();
    expect(await runWith('', 'restore', '--skip-ids', ids)).toMatchObject({ code: 2, out: '' });
  });

  test('leave nothing behind if a signal comes while the copy is read', async () => {
    const { runWith, run, backup, file } = await withPet();
    const { bytes } = await backup();
    const input = new Readable({ read: () => {} });
    input.push(bytes.subarray(0, 100));
    const ended = runWith(input, 'restore');
    await expect.poll(() => String(readdirSync(dirname(file)))).toContain('.partial-');
    process.emit('SIGTERM', 'SIGTERM');
    expect(await ended).toMatchObject(failed('^animal-store: interrupted\n$', 130));
    expect(readdirSync(dirname(file))).toEqual(['animals.db']);
    expect(await run('pets', 'list')).toHaveLength(1);
    expect(existsSync(file)).toBe(true);
  });
});
