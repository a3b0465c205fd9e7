import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import type { PetArchive } from '@animal-store/domain/ports';
import { freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { expect, onTestFinished, test } from 'vitest';
import { ended, PROGRAM, run, start } from './processes.ts';

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

const INTERRUPTED = 'animal-store: interrupted: repeat the command to continue\n';

const CREATE = ['pets', 'create', '--name', 'Rex', '--category-id', '1'];

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
    const child = start(environment, words);
    child.stdin?.on('error', () => {}).write(lines.slice(0, size).join(''));
    return killedWhen(child, signal, async () => isDone(await stored()));
  }

  const killed = await interrupt('SIGKILL', COUNT, (count) => count > 0);
  expect(killed).toEqual({ code: null, out: '', err: '' });
  const before = await stored();
  const half = Math.max(before + 1, COUNT / 2);
  expect(await interrupt('SIGINT', half, (count) => count === half)).toEqual({
    code: 130,
    out: `{"imported":${half - before},"alreadyImported":${before},"rejected":0}\n`,
    err: INTERRUPTED,
  });

  writeFileSync(join(folder, 'pets.ndjson'), lines.join(''));
  expect(await run(environment, ...words, join(folder, 'pets.ndjson'))).toEqual({
    code: 0,
    out: `{"imported":${COUNT - half},"alreadyImported":${half},"rejected":0}\n`,
    err: '',
  });
  const { out } = await run(environment, 'pets', 'list', '--all');
  const names = out.match(/"Rex \d+"/g);
  expect([names?.length, new Set(names).size]).toEqual([COUNT, COUNT]);
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
  const rex = { name: 'Rex', categoryId: 1n, createdAt: 1 };
  const pets = Array.from({ length: COUNT }, (_, index) => ({ id: BigInt(index + 1), ...rex }));
  for (let done = 0; done < COUNT; done += 1_000) await from.restore(pets.slice(done, done + 1_000));

  function interrupt(signal: NodeJS.Signals, after: bigint) {
    const child = start({ SQLITE_FILE: source }, ['copy', '--to', target]);
    return killedWhen(child, signal, async () => (await to.read(after, 1)).length > 0);
  }

  expect(await interrupt('SIGKILL', 0n)).toMatchObject({ code: null, out: '' });
  let before = 0n;
  while ((await to.read(before, 1)).length > 0) before += 1_000n;
  expect(await interrupt('SIGINT', before)).toEqual({ code: 130, out: '', err: INTERRUPTED });
  expect(await to.read(BigInt(COUNT) - 1n, 1)).toEqual([]);
  writeFileSync(join(folder, 'target'), `${target}\n`);
  const { code, out, err } = await run({ SQLITE_FILE: source }, 'copy', '--to-file', join(folder, 'target'));
  expect([code, err]).toEqual([0, '']);
  const { copied, alreadyCopied } = JSON.parse(out);
  expect(alreadyCopied).toBeGreaterThan(Number(before));
  expect(copied + alreadyCopied).toBe(COUNT);
});

test('ends at once on Ctrl-C after a copy is done', async () => {
  const file = new URL('../../../packages/adapter-sqlite/src/adapter.ts', import.meta.url);
  const hanging = freshFile(
    'hanging.mjs',
    `import { adapter } from '${file}';
     const close = () => new Promise(() => setInterval(() => {}, 1_000));
     const open = async (...given) => ({ ...(await adapter.open(...given)), close });
     export { hanging as adapter };
     const hanging = { ...adapter, open };`,
  );
  const target = join(freshFolder(), 'target.db');
  const child = start({ SQLITE_FILE: await emptyFile() }, ['copy', '--to', target, '--to-storage', hanging]);
  child.stdout?.once('data', () => child.kill('SIGINT'));
  expect(await ended(child)).toEqual({ code: null, out: expect.stringMatching(/^{"copied":0,.*\n$/), err: '' });
});

/** The module of an adapter, from another repository, that has no archive, and whose password is wrong. */
function acme(): string {
  const file = (path: string) => new URL(`../../../packages/${path}.ts`, import.meta.url);
  return freshFile(
    'acme.mjs',
    `import { createMemoryStorage } from '${file('adapter-memory/src/index')}';
     import { StorageMisconfigured, unavailable } from '${file('domain/src/ports')}';
     const storage = createMemoryStorage();
     const list = async () => { throw unavailable(new StorageMisconfigured('the password is wrong')); };
     export const adapter = {
       portsVersion: 1,
       variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: false },
       open: async (location) => ({ ...storage, location, keys: { ...storage.keys, list } }),
     };`,
  );
}

test('rejects a target whose adapter has no archive', async () => {
  const words = ['copy', '--to', 'shelf:zoo', '--to-storage', acme()];
  const err = "animal-store: the pets at shelf:zoo can't be copied: its adapter has no archive\n";
  expect(await run({ SQLITE_FILE: await emptyFile() }, ...words)).toEqual({ code: 1, out: '', err });
});

test('reports the setting that a call shows to be wrong', async () => {
  const environment = { STORAGE: acme(), ACME_SHELF: 'shelf:zoo' };
  const err = 'animal-store: ACME_SHELF: the password is wrong\n';
  expect(await run(environment, 'keys', 'list')).toEqual({ code: 2, out: '', err });
});

test.each([
  ...['pets list', 'pets get 1', 'keys issue --holder zoo', 'keys list', 'keys revoke 0123456789abcdef'],
  ...['keys prune --before 2026-01-01', 'copy --to target.db'],
])('makes no file where none is: %s', async (words) => {
  const file = join(freshFolder(), 'animls.db');
  const err = `animal-store: SQLITE_FILE: there is no file ${file} that this user may see\n`;
  expect(await run({ SQLITE_FILE: file }, ...words.split(' '))).toEqual({ code: 2, out: '', err });
  expect([existsSync(file), existsSync('target.db')]).toEqual([false, false]);
});

test('makes a file for pets, and for a copy of them', async () => {
  const folder = freshFolder();
  const [created, copied] = [{ SQLITE_FILE: join(folder, 'a.db') }, { SQLITE_FILE: join(folder, 'b.db') }];
  expect(await run(created, ...CREATE)).toMatchObject({ code: 0 });
  expect(await run(created, 'copy', '--to', copied.SQLITE_FILE)).toMatchObject({ code: 0 });
  expect(await run(copied, 'pets', 'get', '1')).toMatchObject({ code: 0 });
});

test('rejects a copy of a file to itself by another name', async () => {
  const file = await emptyFile();
  symlinkSync(file, `${file}.link`);
  const err = 'animal-store: the pets are there already: --to must name another storage\n';
  expect(await run({ SQLITE_FILE: file }, 'copy', '--to', `${file}.link`)).toEqual({ code: 2, out: '', err });
});

test('fails without a message if the reader of its output closes the pipe', async () => {
  const environment = { SQLITE_FILE: join(freshFolder(), 'animals.db') };
  const child = start(environment, CREATE);
  child.stdout?.destroy();
  expect(await ended(child)).toMatchObject({ code: 1, err: '' });
  expect(await run(environment, 'pets', 'list')).toMatchObject({ code: 0, out: expect.stringContaining('"Rex"') });
});

test.runIf(existsSync('/dev/full'))('reports in one line that its output cannot be written', async () => {
  const full = openSync('/dev/full', 'w');
  const child = start({}, ['--help'], full);
  closeSync(full);
  expect(await ended(child)).toMatchObject({ code: 1, err: expect.stringMatching(/^animal-store: ENOSPC.*\n$/) });
});

test('imports all pets if the reader of its messages closes the pipe', async () => {
  const environment = { SQLITE_FILE: join(freshFolder(), 'animals.db') };
  const child = start(environment, ['pets', 'import', '--import-id', 'x']);
  child.stderr?.destroy();
  child.stdin?.end('nonsense\n'.repeat(1_000) + pet(1));
  expect(await ended(child)).toMatchObject({ code: 1, out: '{"imported":1,"alreadyImported":0,"rejected":1000}\n' });
});

const REFUSED = /^animal-store: the storage at 127\.0\.0\.1:1 is unavailable: connect ECONNREFUSED 127\.0\.0\.1:1\n$/;

test.each<[string, number, RegExp, Record<string, string>?]>([
  ['pets list', 2, /^animal-store: set MONGODB_URL, .*: nothing in memory .*\n$/, {}],
  ['pets list', 2, /^animal-store: MONGODB_URL: (?!.*secret).*\n$/, { MONGODB_URL: 'mongodb://me:secret@h' }],
  ['pets list', 2, /^animal-store: .*\n$/, { SQLITE_FILE: '/nowhere/animals.db' }],
  ['keys list', 1, REFUSED, { MONGODB_URL: 'mongodb://me:secret@127.0.0.1:1/animals' }],
  ['pets sell', 2, /^animal-store: unknown command 'sell'\nAdd --help for usage\.\n$/],
  ['pets list --limit 0', 2, /^animal-store: limit must be .*\n$/],
  ['pets get 7', 1, /^animal-store: no pet has the id 7\n$/],
  ['keys revoke 7', 1, /^animal-store: no API key has this id: the list .*\n$/],
  ['pets import --import-id x nowhere', 1, /^animal-store: ENOENT: no such file .* 'nowhere'\n$/],
  ['copy', 2, /^animal-store: --to or --to-file must name a storage, .*\n$/],
  ['copy --to redis://me:secret@h', 2, /^animal-store: --to (?!.*secret).*\n$/],
  ['copy --to mongodb://me:secret@h', 2, /^animal-store: --to: (?!.*secret).*\n$/],
  ['copy --to postgresql://me:secret@127.0.0.1:1/animals', 1, REFUSED],
  ['copy --to x --to-storage ./x.mjs', 2, /^.*"\.\/x\.mjs" was not found.*\n$/],
  ['copy --to /nowhere/animals.db', 2, /^animal-store: --to: .*\n$/],
  ['copy --to-file nowhere', 1, /^animal-store: ENOENT: .* 'nowhere'\n$/],
  ['copy --to "b.db"', 2, /^animal-store: --to must not be in quotation marks\n$/],
  ['copy --to ./b.db', 2, /^animal-store: .*: --to must name another storage\n$/, { SQLITE_FILE: 'a/../b.db' }],
  // A secret may be in the wrong place.
  ['copy --to-file postgres://me:secret@h/d', 1, /^animal-store: (?!.*secret).*\n$/],
  ['copy --to x --to-storage postgres://me:secret@h/d', 2, /^animal-store: (?!.*secret).*\n$/],
  ['pets import --import-id x a-secret-of-the-user', 1, /^animal-store: (?!.*secret).*\n$/],
])('reports in one line: %s', async (words, code, line, given) => {
  const environment = given ?? { SQLITE_FILE: await emptyFile() };
  const expected = { code, out: '', err: expect.stringMatching(line) };
  expect(await run(environment, ...words.split(' '))).toEqual(expected);
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
