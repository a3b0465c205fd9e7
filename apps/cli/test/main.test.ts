import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ended, freshFolder, PROGRAM, run, start, startWithOutput } from './processes.ts';

test('fails without a message if the reader of its output closes the pipe', async () => {
  const environment = { SQLITE_FILE: join(freshFolder(), 'animals.db') };
  const child = start(environment, 'pets', 'create', '--name', 'Rex', '--category-id', '1');
  child.stdout?.destroy();
  expect(await ended(child)).toMatchObject({ code: 1, err: '' });
  expect(await run(environment, 'pets', 'list')).toMatchObject({ code: 0, out: expect.stringContaining('"Rex"') });
});

test.runIf(existsSync('/dev/full'))('reports in one line that its output cannot be written', async () => {
  const full = openSync('/dev/full', 'w');
  const child = startWithOutput(full, {}, 'pets', '--help');
  closeSync(full);
  expect(await ended(child)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^animal-store: the output can't be written: no space left on device\n$/),
  });
});

test('imports all pets if the reader of its messages closes the pipe', async () => {
  const folder = freshFolder();
  const file = join(folder, 'pets.ndjson');
  writeFileSync(file, 'nonsense\n'.repeat(1_000) + '{"name":"Rex","categoryId":1}\n'.repeat(10));
  const environment = { SQLITE_FILE: join(folder, 'animals.db') };
  const child = start(environment, 'pets', 'import', file, '--on-error', 'skip');
  child.stderr?.destroy();
  expect(await ended(child)).toMatchObject({ code: 1, out: '{"imported":10,"alreadyImported":0,"rejected":1000}\n' });
});

test.each([
  [{}, /^animal-store: set MONGODB_URL, [A-Z_ or]+: no storage is named, and nothing in memory outlives a command\n$/],
  [{ MONGODB_URL: 'mongodb://me:secret@h' }, /^animal-store: MONGODB_URL: the MongoDB URL (?!.*secret)/],
  [{ SQLITE_FILE: '/nowhere/animals.db' }, /^animal-store: .*\n$/],
] as [Record<string, string>, RegExp][])('rejects the environment %o in one line', async (environment, line) => {
  const { code, out, err } = await run(environment, 'pets', 'list');
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(line);
  expect(err.trim().split('\n')).toHaveLength(1);
});

test('rejects a command line that it does not understand before it reads the environment', async () => {
  const { code, out, err } = await run({}, 'pets', 'sell');
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^animal-store: .*\nAdd --help for usage and an example\.\n$/s);
});

test('warns of a misspelled variable, and names it if the storage is missing', async () => {
  const SQLITE_FILE = join(freshFolder(), 'animals.db');
  const warning = 'MONGO_URL is not a setting: MONGODB_URL is probably meant\n';
  expect(await run({ SQLITE_FILE, MONGO_URL: 'mongodb://h/d' }, 'pets', 'list')).toEqual({
    code: 0,
    out: '',
    err: `animal-store: ${warning}`,
  });
  const { code, err } = await run({ MONGO_URL: 'mongodb://h/d' }, 'pets', 'list');
  expect([code, err]).toEqual([2, expect.stringMatching(/^animal-store: set MONGODB_URL, /)]);
  expect(err.endsWith(`; ${warning}`)).toBe(true);
});

test('is installed under the name that its usage shows', () => {
  const { bin } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(bin).toEqual({ 'animal-store': 'dist/main.js' });
  // The compiler keeps the first line.
  expect(readFileSync(PROGRAM.at(-1) as string, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test.each([
  [[], /^Usage: animal-store .*MONGODB_URL, POSTGRES_URL or SQLITE_FILE selects the storage/s],
  [['pets', 'create', '--help'], /^Usage: animal-store pets create .*\nExample:\n/s],
  [['--version'], /^animal-store \d+\./],
])('prints help and version without a storage: %j', async (words, output) => {
  expect(await run({}, ...words)).toEqual({ code: 0, out: expect.stringMatching(output), err: '' });
});

test('reports an unavailable database in one line with the reason, without the password', async () => {
  const { code, out, err } = await run({ MONGODB_URL: 'mongodb://me:secret@127.0.0.1:1/animals' }, 'keys', 'list');
  expect([code, out]).toEqual([1, '']);
  expect(err).toBe('animal-store: the storage at 127.0.0.1:1 is unavailable: connect ECONNREFUSED 127.0.0.1:1\n');
});
