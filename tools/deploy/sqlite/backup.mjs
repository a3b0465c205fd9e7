// Copies a database while the service runs: node backup.mjs FILE COPY. Prints `ok` if the copy is whole.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const { backup, DatabaseSync } = await import('node:sqlite').catch(() => ({}));

/** Marks a file of the Animal Store: "Anim". */
const APPLICATION_ID = 0x416e696d;

// This program imports no other file, because the script for containers passes its text alone.
/** Why a file may have a second log: it has a second name, by a hard link or a mount of the file alone (proc(5), Linux). */
function secondName(path) {
  if (!existsSync(path)) return null;
  const mounts = existsSync('/proc/self/mountinfo') ? readFileSync('/proc/self/mountinfo', 'utf8').split('\n') : [];
  const octal = (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  const mounted = realpathSync(path).replace(/[ \t\n\\]/g, octal);
  if (mounts.some((mount) => mount.split(' ')[4] === mounted)) return `${path} is mounted alone: mount its folder`;
  return statSync(path).nlink === 1 ? null : `${path} has a second name: keep only the one with a log (-wal) beside it`;
}

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
const real = (path) => (existsSync(path) ? realpathSync(path) : null);
const problem =
  (backup === undefined && `needs Node.js 24, this is ${process.version}`) ||
  (copy === undefined && 'usage: node backup.mjs FILE COPY') ||
  (!existsSync(file) && `there is no file ${file}`) ||
  (!existsSync(dirname(copy)) && `there is no folder ${dirname(copy)}`) ||
  (real(copy) === real(file) && 'COPY must be another file') ||
  secondName(file) ||
  secondName(copy);
if (problem) {
  console.error(problem);
  process.exit(2);
}
const result = await copyWhole(file, copy).catch((error) => `${file}: ${error.message}`);
console[result === 'ok' ? 'log' : 'error'](result);
process.exitCode = result === 'ok' ? 0 : 1;
