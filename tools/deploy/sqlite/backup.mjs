// Copies a database while the service runs: node backup.mjs FILE COPY. Prints `ok` if the copy is whole.
import { existsSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

// The copy holds what the file holds.
process.umask(0o077);
const [file, copy] = process.argv.slice(2);
if (copy === undefined || !existsSync(file)) {
  console.error(copy === undefined ? 'usage: node backup.mjs FILE COPY' : `there is no file ${file}`);
  process.exit(2);
}
const source = new DatabaseSync(file);
// A read transaction keeps the copy at one state; without it each commit of the service restarts the copy.
source.exec('BEGIN');
source.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
await backup(source, copy);
source.close();

const target = new DatabaseSync(copy);
const { integrity_check: result } = target.prepare('PRAGMA integrity_check').get();
target.close();
console.log(result);
process.exitCode = result === 'ok' ? 0 : 1;
