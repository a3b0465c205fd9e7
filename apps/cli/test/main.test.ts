import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import type { PetArchive } from '@animal-store/domain/ports';
import { expect, onTestFinished, test } from 'vitest';
import { ended, freshFolder, PROGRAM, run, start, startWithOutput } from './processes.ts';

async function killedWhen(child: ChildProcess, signal: NodeJS.Signals, isTime: () => Promise<boolean>) {
  const end = ended(child);
  while (!(await isTime())) expect(child.exitCode).toBeNull();
  child.kill(signal);
  // npm sends a copy of Ctrl-C.
  await setImmediate();
  child.kill(signal);
  return end;
}

/** A file without pets. */
async function emptyFile(): Promise<string> {
  const file = join(freshFolder(), 'animals.db');
  await using _ = await createSqliteStorage({ file });
  return file;
}

/** The module of an adapter without an archive. */
const MEMORY = new URL('../../../packages/adapter-memory/src/index.ts', import.meta.url);

const pet = (index: number) => `{"name":"Rex ${index}","categoryId":9223372036854775807}\n`;

test('continues an import after SIGKILL and SIGINT when the command is repeated, without lost or duplicate pets', async () => {
  const folder = freshFolder();
  const environment = { SQLITE_FILE: join(folder, 'animals.db') };
  const COUNT = 20_000;
  const lines = Array.from({ length: COUNT }, (_, index) => pet(index));
  const words = ['pets', 'import', '--import-id', 'arrivals'];
  const stored = async () => (await run(environment, 'pets', 'list', '--all')).out.split('\n').length - 1;

  // The input does not end, so that the signal comes before the last line is imported.
  function interrupt(signal: NodeJS.Signals, size: number, isDone: (count: number) => boolean) {
    const child = start(environment, ...words);
    child.stdin?.on('error', () => {}).write(lines.slice(0, size).join(''));
    return killedWhen(child, signal, async () => isDone(await stored()));
  }

  const killed = await interrupt('SIGKILL', COUNT, (count) => count > 0);
  expect(killed).toMatchObject({ code: null, out: '' });
  const before = await stored();
  const half = Math.max(before + 1, COUNT / 2);
  expect(await interrupt('SIGINT', half, (count) => count === half)).toEqual({
    code: 130,
    out: `{"imported":${half - before},"alreadyImported":${before},"rejected":0}\n`,
    err: 'animal-store: interrupted: repeat the command to continue\n',
  });

  writeFileSync(join(folder, 'pets.ndjson'), lines.join(''));
  expect(await run(environment, ...words, join(folder, 'pets.ndjson'))).toEqual({
    code: 0,
    out: `{"imported":${COUNT - half},"alreadyImported":${half},"rejected":0}\n`,
    err: '',
  });
  const { out } = await run(environment, 'pets', 'list', '--all');
  const names = out
    .split('\n')
    .slice(0, -1)
    .map((text) => (JSON.parse(text) as { name: string }).name);
  expect(new Set(names).size).toBe(COUNT);
  expect(names).toHaveLength(COUNT);
});

test('continues a copy after SIGKILL and SIGINT when the command is repeated', async () => {
  const folder = freshFolder();
  const [source, target] = [join(folder, 'source.db'), join(folder, 'target.db')];
  const COUNT = 50_000;
  const archiveAt = async (file: string) => {
    const { archive, close } = await createSqliteStorage({ file });
    onTestFinished(close);
    return archive as PetArchive;
  };
  const [from, to] = [await archiveAt(source), await archiveAt(target)];
  const pets = Array.from({ length: COUNT }, (_, index) => ({
    id: BigInt(index + 1),
    name: 'Rex',
    categoryId: 1n,
    createdAt: 1,
  }));
  for (let done = 0; done < COUNT; done += 1_000) await from.restore(pets.slice(done, done + 1_000));

  function interrupt(signal: NodeJS.Signals, after: bigint) {
    const child = start({ SQLITE_FILE: source }, 'copy', '--to', target);
    return killedWhen(child, signal, async () => (await to.read(after, 1)).length > 0);
  }

  expect(await interrupt('SIGKILL', 0n)).toMatchObject({ code: null, out: '' });
  expect(await interrupt('SIGINT', BigInt(COUNT / 2))).toEqual({
    code: 130,
    out: '',
    err: 'animal-store: interrupted: repeat the command to continue\n',
  });
  expect(await to.read(BigInt(COUNT) - 1n, 1)).toEqual([]);
  writeFileSync(join(folder, 'target'), `${target}\n`);
  const { code, out, err } = await run({ SQLITE_FILE: source }, 'copy', '--to-file', join(folder, 'target'));
  expect([code, err]).toEqual([0, '']);
  const { copied, alreadyCopied } = JSON.parse(out);
  expect(alreadyCopied).toBeGreaterThan(COUNT / 2);
  expect(copied + alreadyCopied).toBe(COUNT);
});

test('rejects a target whose adapter, from another repository, has no archive', async () => {
  const folder = freshFolder();
  const variable = "{ name: 'ACME_SHELF', example: 'shelf:zoo', secret: false }";
  const open = 'async (location) => ({ ...createMemoryStorage(), location })';
  const module = join(folder, 'acme.mjs');
  writeFileSync(
    module,
    `import { createMemoryStorage } from '${MEMORY}';
     export const adapter = { portsVersion: 1, variable: ${variable}, open: ${open} };`,
  );
  const words = ['copy', '--to', 'shelf:zoo', '--to-storage', module];
  expect(await run({ SQLITE_FILE: await emptyFile() }, ...words)).toEqual({
    code: 1,
    out: '',
    err: "animal-store: the pets at shelf:zoo can't be copied: its adapter has no archive\n",
  });
});

test.each([
  ['pets', 'list'],
  ['pets', 'get', '1'],
  ['keys', 'issue', '--holder', 'the zoo'],
  ['keys', 'list'],
  ['keys', 'revoke', '0123456789abcdef'],
  ['keys', 'prune', '--before', '2026-01-01'],
  ['copy', '--to', 'target.db'],
])('makes no file where none is: %s %s', async (...words) => {
  const file = join(freshFolder(), 'animls.db');
  const err = `animal-store: SQLITE_FILE: there is no file ${file} that this user may see\n`;
  expect(await run({ SQLITE_FILE: file }, ...words)).toEqual({ code: 2, out: '', err });
  expect([existsSync(file), existsSync('target.db')]).toEqual([false, false]);
});

test('makes a file for pets, and for a copy of them', async () => {
  const folder = freshFolder();
  const [created, imported, copied] = ['a.db', 'b.db', 'c.db'].map((name) => join(folder, name)) as [
    string,
    ...string[],
  ];
  const words = ['pets', 'create', '--name', 'Rex', '--category-id', '1'];
  expect(await run({ SQLITE_FILE: created }, ...words)).toMatchObject({ code: 0 });
  const importing = start({ SQLITE_FILE: imported as string }, 'pets', 'import', '--import-id', 'x');
  importing.stdin?.end(pet(1));
  expect(await ended(importing)).toMatchObject({ code: 0 });
  expect(await run({ SQLITE_FILE: created }, 'copy', '--to', copied as string)).toMatchObject({ code: 0 });
  expect(await run({ SQLITE_FILE: copied as string }, 'pets', 'get', '1')).toMatchObject({ code: 0 });
});

test('rejects a copy of a file to itself by another name', async () => {
  const file = await emptyFile();
  symlinkSync(file, `${file}.link`);
  expect(await run({ SQLITE_FILE: file }, 'copy', '--to', `${file}.link`)).toEqual({
    code: 2,
    out: '',
    err: 'animal-store: the pets are there already: --to must name another storage\n',
  });
});

test('fails without a message if the reader of its output closes the pipe', async () => {
  const environment = { SQLITE_FILE: join(freshFolder(), 'animals.db') };
  const child = start(environment, 'pets', 'create', '--name', 'Rex', '--category-id', '1');
  child.stdout?.destroy();
  expect(await ended(child)).toMatchObject({ code: 1, err: '' });
  expect(await run(environment, 'pets', 'list')).toMatchObject({ code: 0, out: expect.stringContaining('"Rex"') });
});

test.runIf(existsSync('/dev/full'))('reports in one line that its output cannot be written', async () => {
  const full = openSync('/dev/full', 'w');
  const child = startWithOutput(full, {}, '--help');
  closeSync(full);
  expect(await ended(child)).toMatchObject({ code: 1, err: expect.stringMatching(/^animal-store: ENOSPC.*\n$/) });
});

test('imports all pets if the reader of its messages closes the pipe', async () => {
  const environment = { SQLITE_FILE: join(freshFolder(), 'animals.db') };
  const child = start(environment, 'pets', 'import', '--import-id', 'x');
  child.stderr?.destroy();
  child.stdin?.end('nonsense\n'.repeat(1_000) + pet(1));
  expect(await ended(child)).toMatchObject({ code: 1, out: '{"imported":1,"alreadyImported":0,"rejected":1000}\n' });
});

test.each([
  [{}, ['pets', 'list'], 2, /^animal-store: set MONGODB_URL, .*: nothing in memory .*\n$/],
  [{ MONGODB_URL: 'mongodb://me:secret@h' }, ['pets', 'list'], 2, /^animal-store: MONGODB_URL: (?!.*secret).*\n$/],
  [{ SQLITE_FILE: '/nowhere/animals.db' }, ['pets', 'list'], 2, /^animal-store: .*\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['copy'], 2, /^animal-store: --to or --to-file must name a storage, .*\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['copy', '--to', 'redis://me:secret@h'], 2, /^animal-store: --to (?!.*secret).*\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['copy', '--to', 'mongodb://me:secret@h'], 2, /^animal-store: --to: (?!.*secret).*\n$/],
  [
    { SQLITE_FILE: ':fresh:' },
    ['copy', '--to', 'x', '--to-storage', './x.mjs'],
    2,
    /^.*"\.\/x\.mjs" was not found.*\n$/,
  ],
  [{ SQLITE_FILE: ':fresh:' }, ['copy', '--to', '/nowhere/animals.db'], 2, /^animal-store: --to: .*\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['copy', '--to-file', 'nowhere'], 1, /^animal-store: ENOENT: .* 'nowhere'\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['copy', '--to', '"b.db"'], 2, /^animal-store: --to must not be in quotation marks\n$/],
  [{ SQLITE_FILE: 'a/../b.db' }, ['copy', '--to', './b.db'], 2, /^animal-store: .*: --to must name another storage\n$/],
  [
    { SQLITE_FILE: ':fresh:' },
    ['copy', '--to', 'postgresql://me:secret@127.0.0.1:1/animals'],
    1,
    /^animal-store: the storage at 127\.0\.0\.1:1 is unavailable: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
  ],
  [{}, ['pets', 'sell'], 2, /^animal-store: unknown command 'sell'\nAdd --help for usage\.\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['pets', 'list', '--limit', '0'], 2, /^animal-store: limit must be .*\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['pets', 'get', '7'], 1, /^animal-store: no pet has the id 7\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['keys', 'issue', '--holder', 'configured-1'], 2, /^animal-store: holder must be .*\n$/],
  [{ SQLITE_FILE: ':fresh:' }, ['keys', 'revoke', '7'], 1, /^animal-store: no API key has this id: the list .*\n$/],
  [{}, ['pets', 'import', '--import-id', 'x', 'nowhere'], 1, /^animal-store: ENOENT: no such file .* 'nowhere'\n$/],
  [
    { MONGODB_URL: 'mongodb://me:secret@127.0.0.1:1/animals' },
    ['keys', 'list'],
    1,
    /^animal-store: the storage at 127\.0\.0\.1:1 is unavailable: connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
  ],
] as [Record<string, string>, string[], number, RegExp][])(
  'reports in one line, with %o: %j',
  async (given, words, code, line) => {
    const isFresh = given['SQLITE_FILE'] === ':fresh:';
    const environment = isFresh ? { SQLITE_FILE: await emptyFile() } : given;
    expect(await run(environment, ...words)).toEqual({ code, out: '', err: expect.stringMatching(line) });
  },
);

test.each([
  ['copy', '--to-file', 'postgres://me:secret@h/d'],
  ['copy', '--to', 'x', '--to-storage', 'postgres://me:secret@h/d'],
  ['pets', 'import', '--import-id', 'x', 'a-secret-of-the-user'],
])('repeats no argument that may be a secret in the wrong place: %s %s %s %s %s', async (...words) => {
  const { code, err } = await run({ SQLITE_FILE: join(freshFolder(), 'animals.db') }, ...words);
  expect([code, err]).toEqual([expect.any(Number), expect.stringMatching(/^animal-store: (?!.*secret).*\n$/)]);
  expect(code).toBeGreaterThan(0);
});

test('prints help and its version without a storage, and is installed under the name in its usage', async () => {
  const help = await run({}, '--help');
  expect(help).toMatchObject({ code: 0, err: '' });
  expect(help.out).toMatch(/^Usage: animal-store .*MONGODB_URL, POSTGRES_URL or SQLITE_FILE selects the storage/s);
  expect(await run({}, '--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^animal-store \d+\./) });
  const { bin } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(bin).toEqual({ 'animal-store': 'dist/main.js' });
  // The compiler keeps the first line.
  expect(readFileSync(PROGRAM.at(-1) as string, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});
