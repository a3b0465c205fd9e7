import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createSqliteStorage } from '../src/index.ts';
import { freshFile } from './fresh-file.ts';
import { startProcess } from './processes.ts';

const run = promisify(execFile);

const MANUAL = readFileSync(new URL('../../../docs/storage-sqlite.md', import.meta.url), 'utf8');

/** A part of the manual's section about backups. */
function documented(pattern: RegExp): string {
  const [, section = ''] = MANUAL.split('## Backup');
  const [, found] = pattern.exec(section) ?? [];
  if (found === undefined) throw new Error(`docs/storage-sqlite.md has no ${pattern}`);
  return found;
}

/** A file that takes long to copy: an interrupted copy of it never ends. */
async function largeFile(): Promise<string> {
  const file = freshFile();
  const storage = createSqliteStorage({ file });
  await storage.pets.add({ name: 'Rex', categoryId: 1n });
  await storage.close();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE filler (content BLOB); INSERT INTO filler VALUES (zeroblob(200000000))');
  database.close();
  return file;
}

/** Copies a file while another process commits every few milliseconds. @returns The copy. */
async function copied(copy: (file: string, target: string) => Promise<unknown>): Promise<string> {
  const file = await largeFile();
  const target = join(file, '../backup.db');
  const writer = startProcess(
    file,
    `for (let key = 0; ; key += 1) {
      await add(key);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }`,
  );
  await writer.underWay();
  await copy(file, target);
  expect(writer.process.exitCode).toBeNull();
  return target;
}

function expectWhole(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(database.prepare('SELECT name FROM pets WHERE id = 1').get()).toEqual({ name: 'Rex' });
  } finally {
    database.close();
  }
}

const hasSqlite3 = await run('sh', ['-c', 'command -v sqlite3']).then(
  () => true,
  () => false,
);
if (!hasSqlite3) process.stderr.write('\nNOT RUN: the test of backups with sqlite3, because it is not installed.\n');

describe('the backup of the manual ends while another process commits', () => {
  test.skipIf(!hasSqlite3)(
    'with sqlite3',
    async () => {
      const script = documented(/^(sqlite3 .*\.backup .*)$/m);
      const target = await copied((file, to) => {
        const onTheseFiles = script
          .replace('/var/lib/animal-store/animals.db', file)
          .replace('/var/backups/animals.db', to);
        return run('sh', ['-c', `exec ${onTheseFiles}`], { timeout: 12_000 });
      });
      expectWhole(target);
    },
    25_000,
  );

  test('with Node.js', async () => {
    const program = documented(/--eval "\n([^"]*\bbackup\([^"]*)"/);
    const target = await copied((file, to) => {
      const onTheseFiles = program.replace('/data/animals.db', file).replace('/data/backup.db', to);
      return run(process.execPath, ['--input-type=module', '--eval', onTheseFiles], { timeout: 12_000 });
    });
    expectWhole(target);
  }, 25_000);
});
