import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freshDatabaseFile, freshFile } from '@animal-store/test-kit/fresh-folder';
import { expect, onTestFinished, test } from 'vitest';
import { commandLine } from './command-line.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Starts the program from its source. It is killed when the running test ends. */
function start(environment: Record<string, string>, words: readonly string[], output: 'pipe' | number = 'pipe') {
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN, ...words], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['pipe', output, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The exit code and the output of a program that has ended. */
async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (chunk) => (out += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk) => (err += chunk));
  const [code] = await once(child, 'close');
  return { code, out, err };
}

const freshDatabase = () => ({ SQLITE_FILE: freshDatabaseFile() });

const CREATE = ['pets', 'create', '--name', 'Rex', '--category-id', '1'];

const pet = (index: number) => `{"name":"Rex ${index}","categoryId":9223372036854775807}\n`;

test('continues an import after SIGKILL and SIGINT when the command is repeated, without lost or duplicate pets', async () => {
  const environment = freshDatabase();
  const COUNT = 20_000;
  const lines = Array.from({ length: COUNT }, (_, index) => pet(index));
  const words = ['pets', 'import', '--import-id', 'arrivals'];
  const { run, runWith } = commandLine({ environment });
  // The file does not exist at first.
  const stored = async () => (await runWith('', 'pets', 'list', '--all')).out.split('\n').length - 1;

  // The input does not end, so that the signal comes before the last line is imported.
  async function interrupt(signal: NodeJS.Signals, size: number, isDone: (count: number) => boolean) {
    const child = start(environment, words);
    const end = ended(child);
    child.stdin?.on('error', () => {}).write(lines.slice(0, size).join(''));
    while (!isDone(await stored())) expect(child.exitCode).toBeNull();
    child.kill(signal);
    // npm sends a copy of Ctrl-C.
    await setImmediate();
    child.kill(signal);
    return end;
  }

  const killed = await interrupt('SIGKILL', COUNT, (count) => count > 0);
  expect(killed).toEqual({ code: null, out: '', err: '' });
  const before = await stored();
  const half = Math.max(before + 1, COUNT / 2);
  expect(await interrupt('SIGINT', half, (count) => count === half)).toEqual({
    code: 130,
    out: `{"imported":${half - before},"alreadyImported":${before},"rejected":0}\n`,
    err: 'animal-store: interrupted: repeat the command to continue\n',
  });

  expect(await runWith(lines.join(''), ...words)).toEqual({
    code: 0,
    out: `{"imported":${COUNT - half},"alreadyImported":${half},"rejected":0}\n`,
    err: '',
  });
  const names = (await run('pets', 'list', '--all')).map((line) => JSON.parse(line).name);
  expect([names.length, new Set(names).size]).toEqual([COUNT, COUNT]);
});

test('ends at once on Ctrl-C after a copy is done', async () => {
  const environment = freshDatabase();
  await commandLine({ environment }).run(...CREATE);
  const file = new URL('../../../packages/adapter-sqlite/src/adapter.ts', import.meta.url);
  const hanging = freshFile(
    'hanging.mjs',
    `import { adapter as sqlite } from '${file}';
     const close = () => new Promise(() => setInterval(() => {}, 1_000));
     export const adapter = { ...sqlite, open: async (...given) => ({ ...(await sqlite.open(...given)), close }) };`,
  );
  const child = start(environment, ['copy', '--to', freshDatabaseFile(), '--to-storage', hanging]);
  child.stdout?.once('data', () => child.kill('SIGINT'));
  const out = '{"copied":1,"alreadyCopied":0,"apiKeys":0}\n';
  expect(await ended(child)).toEqual({ code: null, out, err: '' });
});

test('fails without a message if the reader of its output closes the pipe', async () => {
  const environment = freshDatabase();
  const child = start(environment, CREATE);
  child.stdout?.destroy();
  expect(await ended(child)).toMatchObject({ code: 1, err: '' });
  expect(await commandLine({ environment }).run('pets', 'list')).toEqual([expect.stringContaining('"Rex"')]);
});

test.runIf(existsSync('/dev/full'))('reports in one line that its output cannot be written', async () => {
  const full = openSync('/dev/full', 'w');
  const child = start({}, ['--help'], full);
  closeSync(full);
  expect(await ended(child)).toMatchObject({ code: 1, err: expect.stringMatching(/^animal-store: ENOSPC.*\n$/) });
});

/** A database with so many bytes in a page of its own each. */
async function largeDatabase(megabytes: number) {
  const environment = freshDatabase();
  await commandLine({ environment }).run(...CREATE);
  const database = new DatabaseSync(environment.SQLITE_FILE);
  database.exec(`CREATE TABLE filler AS SELECT randomblob(${megabytes}000000)`);
  database.close();
  return environment;
}

test('fails if a full disk has no space for the last bytes of a copy', async () => {
  const environment = await largeDatabase(1);
  const { bytes } = await commandLine({ environment }).backup();
  // No file may become larger than three copies: the copy beside the database may be written, and the output to its last bytes.
  const blocks = Math.ceil((3 * bytes.length) / 512);
  const copy = freshFile('copy', '');
  truncateSync(copy, 512 * blocks - bytes.length + 256);
  // The signal would end the process, instead of the write with an error.
  const limited = `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@" >>'${copy}'`;
  const node = [process.execPath, '--conditions=@animal-store/source', MAIN, 'backup'];
  const child = spawn('/bin/sh', ['-c', limited, ...node], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  expect(await ended(child)).toMatchObject({ code: 1, err: expect.stringMatching(/^animal-store: [^\n]+\n$/) });
});

test('ends a backup at once on SIGTERM although the reader of its output stalls', async () => {
  const child = start(await largeDatabase(1), ['backup']);
  const end = once(child, 'exit');
  await once(child.stdout as NodeJS.EventEmitter, 'readable');
  child.kill('SIGTERM');
  expect(await end).toEqual([130, null]);
});

test('leaves a whole database wherever a restore is killed, and the next one removes what is left', async () => {
  const environment = await largeDatabase(10);
  const { SQLITE_FILE } = environment;
  const { run, runWith, backup } = commandLine({ environment });
  const { bytes } = await backup();
  await run(...CREATE);
  for (let delay = 0; delay < 500; delay += 50) {
    const child = start(environment, ['restore']);
    const end = ended(child);
    child.stdin?.on('error', () => {}).end(bytes);
    await expect.poll(() => child.exitCode !== null || readdirSync(dirname(SQLITE_FILE)).length > 1).toBe(true);
    await sleep(delay);
    child.kill('SIGKILL');
    const { code } = await end;
    const count = (await run('pets', 'list')).length;
    expect(code === 0 ? [1] : [1, 2]).toContain(count);
  }
  expect(await runWith(bytes, 'restore')).toMatchObject({ code: 0 });
  expect(await run('pets', 'list')).toHaveLength(1);
  expect(readdirSync(dirname(SQLITE_FILE))).toEqual(['animals.db']);
});

test('names only the storage if it is misconfigured and a file is imported', async () => {
  const words = ['pets', 'import', '--import-id', 'x', freshFile('pets.ndjson', pet(1))];
  expect(await ended(start({ SQLITE_FILE: '/' }, words))).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^animal-store: SQLITE_FILE: [^\n]+\n$/),
  });
});

test('imports all pets if the reader of its messages closes the pipe', async () => {
  const child = start(freshDatabase(), ['pets', 'import', '--import-id', 'x']);
  child.stderr?.destroy();
  child.stdin?.end('nonsense\n'.repeat(1_000) + pet(1));
  expect(await ended(child)).toMatchObject({ code: 1, out: '{"imported":1,"alreadyImported":0,"rejected":1000}\n' });
});

test('prints help, and is installed under the name in its usage', async () => {
  const out = expect.stringMatching(/^Usage: animal-store /);
  expect(await ended(start({}, ['--help']))).toEqual({ code: 0, out, err: '' });
  const { bin } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(bin).toEqual({ 'animal-store': 'dist/main.js' });
  // The compiler keeps the first line.
  expect(readFileSync(MAIN, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});
