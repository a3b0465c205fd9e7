import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { freshDatabaseFile, freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { expect, test } from 'vitest';
import { commandLine } from '../test/command-line.ts';

const run = (environment: NodeJS.ProcessEnv, words: string) =>
  commandLine({ environment }).runWith('', ...words.split(' '));

/** A file without pets. */
async function emptyFile(): Promise<string> {
  const file = freshDatabaseFile();
  await using _ = await createSqliteStorage({ file });
  return file;
}

/** The module of an adapter, from another repository, that has no archive, and whose password is wrong. */
function acme(kind: 'async' | '' = 'async'): string {
  const file = (path: string) => new URL(`../../../packages/${path}.ts`, import.meta.url);
  return freshFile(
    'acme.mjs',
    `import { createMemoryStorage } from '${file('adapter-memory/src/index')}';
     import { StorageMisconfigured, unavailable } from '${file('domain/src/ports')}';
     const storage = createMemoryStorage();
     const list = ${kind} () => { throw unavailable(new StorageMisconfigured('the password is wrong')); };
     export const adapter = {
       portsVersion: 1,
       variable: { name: 'ACME_SHELF', example: 'shelf:zoo', secret: false },
       open: async (location) => ({ ...storage, location, keys: { ...storage.keys, list } }),
     };`,
  );
}

test.each(['async', ''] as const)('reports the setting that a call shows to be wrong: %s', async (kind) => {
  const err = 'animal-store: ACME_SHELF: the password is wrong\n';
  const environment = { STORAGE: acme(kind), ACME_SHELF: 'shelf:zoo' };
  expect(await run(environment, 'keys list')).toEqual({ code: 2, out: '', err });
});

test.each([
  ['--help', /^Usage: animal-store .*MONGODB_URL, POSTGRES_URL or SQLITE_FILE selects the storage/s],
  ['--version', /^animal-store \d+\.\d+\.\d+.*\n$/],
])('%s needs no adapter: that of STORAGE may be broken', async (option, out) => {
  const STORAGE = freshFile('broken.mjs', 'nonsense');
  expect(await run({ STORAGE }, option)).toEqual({ code: 0, out: expect.stringMatching(out), err: '' });
});

test('rejects a target whose adapter has no archive', async () => {
  const err = "animal-store: the pets at shelf:zoo can't be copied: its adapter has no archive\n";
  const words = `copy --to shelf:zoo --to-storage ${acme()}`;
  expect(await run({ SQLITE_FILE: await emptyFile() }, words)).toEqual({ code: 1, out: '', err });
});

test.each([
  ...['pets list', 'pets get 1', 'keys issue --holder zoo', 'keys list', 'keys revoke 0123456789abcdef'],
  'copy --to',
])('makes no file where none is: %s', async (words) => {
  const folder = freshFolder();
  const [file, target] = [join(folder, 'animls.db'), join(folder, 'target.db')];
  const err = `animal-store: SQLITE_FILE: there is no file ${file} that this user may see\n`;
  expect(await run({ SQLITE_FILE: file }, words.replace('--to', `--to ${target}`))).toEqual({ code: 2, out: '', err });
  expect(readdirSync(folder)).toEqual([]);
});

test('makes a file for pets, and for a copy of them, which another file names', async () => {
  const [source, target] = [freshDatabaseFile(), freshDatabaseFile()];
  const done = { code: 0, err: '' };
  expect(await run({ SQLITE_FILE: source }, 'pets create --name Rex --category-id 1')).toMatchObject(done);
  const words = `copy --to-file ${freshFile('target', `${target}\n`)}`;
  expect(await run({ SQLITE_FILE: source }, words)).toMatchObject(done);
  expect(await run({ SQLITE_FILE: target }, 'pets get 1')).toMatchObject(done);
});

test('rejects a copy of a file to itself by another name', async () => {
  const file = await emptyFile();
  symlinkSync(file, `${file}.link`);
  const err = 'animal-store: the pets are there already: --to must name another storage\n';
  expect(await run({ SQLITE_FILE: file }, `copy --to ${file}.link`)).toEqual({ code: 2, out: '', err });
});

const REFUSED = /^animal-store: the storage at 127\.0\.0\.1:1 is unavailable: connect ECONNREFUSED 127\.0\.0\.1:1\n$/;

test.each<[string, number, RegExp, Record<string, string>?]>([
  ['pets list', 2, /^animal-store: set MONGODB_URL, .*: nothing in memory .*\n$/, {}],
  ['pets list', 2, /^animal-store: MONGODB_URL: (?!.*secret).*\n$/, { MONGODB_URL: 'mongodb://me:secret@h' }],
  // Insecure settings are a warning of the service: here it would fill an audit log.
  ['keys list', 1, REFUSED, { MONGODB_URL: 'mongodb://me:secret@127.0.0.1:1/animals?tls=true&tlsInsecure=true' }],
  ['pets list --limit 0', 2, /^animal-store: limit must be .*\n$/],
  [
    'pets create --name Rex --category-id 9223372036854775808',
    2,
    /^animal-store: .* to 9223372036854775807, was .*8\n$/,
  ],
  ['pets get 7', 1, /^animal-store: no pet has the id 7\n$/],
  ['keys revoke 7', 1, /^animal-store: no API key has this id: the list .*\n$/],
  ['pets import --import-id x nowhere', 2, /^animal-store: pets import: the file can't be read: no such [^\n]*\n$/],
  ['copy', 2, /^animal-store: --to or --to-file must name a storage .*\n$/],
  ['copy --to sqlite', 2, /^animal-store: --to or --to-file must name a storage .*\n$/],
  ['copy --to me:secret@h', 2, /^animal-store: --to or --to-file must name a storage (?!.*secret).*\n$/],
  ['copy --to //me:secret@h/animals', 2, /^animal-store: --to or --to-file must name a storage (?!.*secret).*\n$/],
  ['copy --to password=secret', 2, /^animal-store: --to or --to-file must name a storage (?!.*secret).*\n$/],
  ['copy --to redis://me:secret@h', 2, /^animal-store: --to (?!.*secret).*\n$/],
  ['copy --to mongodb://me:secret@h', 2, /^animal-store: --to: (?!.*secret).*\n$/],
  ['copy --to postgresql://me:secret@127.0.0.1:1/animals', 1, REFUSED],
  ['copy --to x --to-storage ./x.mjs', 2, /^animal-store: --to-storage must be .*: it was not found.*\n$/],
  ['copy --to /nowhere/animals.db', 2, /^animal-store: --to: .*\n$/],
  ['copy --to-file nowhere', 2, /^animal-store: --to-file: the file can't be read: no such .*\n$/],
  ['copy --to-file /dev/null', 2, /^animal-store: --to-file: the file is empty\n$/],
  ['copy --to "b.db"', 2, /^animal-store: --to must not be in quotation marks\n$/],
  ['copy --to ./b.db', 2, /^animal-store: .*: --to must name another storage\n$/, { SQLITE_FILE: 'a/../b.db' }],
  // A secret may be in the wrong place.
  ['copy --to-file postgres://me:secret@h/d', 2, /^animal-store: (?!.*secret).*\n$/],
  ['copy --to x --to-storage postgres://me:secret@h/d', 2, /^animal-store: (?!.*secret).*\n$/],
  ...['restore', 'backup', 'pets list', 'pets create --name Rex --category-id 1'].map(
    (words): [string, number, RegExp, Record<string, string>] => [
      words,
      2,
      /^animal-store: SQLITE_FILE: the file must be a path, not a URL\n$/,
      { SQLITE_FILE: 'mongodb+srv://me:secret@h/d' },
    ],
  ),
  ['pets import --import-id x a-secret-of-the-user', 2, /^animal-store: (?!.*secret).*\n$/],
])('reports in one line: %s', async (words, code, line, given) => {
  const environment = given ?? { SQLITE_FILE: await emptyFile() };
  expect(await run(environment, words)).toEqual({ code, out: '', err: expect.stringMatching(line) });
});
