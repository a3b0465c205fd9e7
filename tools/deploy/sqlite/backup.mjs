// Copies a database while the service runs: node backup.mjs FILE COPY. Prints `ok` if the copy is whole.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';

/** Marks a file of the Animal Store: "Anim". */
const APPLICATION_ID = 0x416e696d;

/** @returns Why the copy can't be used, or `ok`. */
async function copyWhole(file, copy) {
  const source = new DatabaseSync(file);
  // A read transaction keeps the copy at one state; without it each commit of the service restarts the copy.
  source.exec('BEGIN');
  if (source.prepare('PRAGMA application_id').get().application_id !== APPLICATION_ID) {
    return `${file} is no database of the Animal Store`;
  }
  await backup(source, copy);
  source.close();
  const target = new DatabaseSync(copy);
  const { integrity_check: result } = target.prepare('PRAGMA integrity_check').get();
  target.close();
  return result;
}

// The copy holds what the file holds.
process.umask(0o077);
const [file, copy] = process.argv.slice(2);
const problem =
  (copy === undefined && 'usage: node backup.mjs FILE COPY') ||
  (!existsSync(file) && `there is no file ${file}`) ||
  (!existsSync(dirname(copy)) && `there is no folder ${dirname(copy)}`);
if (problem) {
  console.error(problem);
  process.exit(2);
}
const result = await copyWhole(file, copy).catch((error) => `${file}: ${error.message}`);
console[result === 'ok' ? 'log' : 'error'](result);
process.exitCode = result === 'ok' ? 0 : 1;
