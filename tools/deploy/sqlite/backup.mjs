// Copies a database while the service runs: node backup.mjs FILE COPY. Prints `ok` if the copy is whole. An earlier copy stays
// until then.
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

const { backup, DatabaseSync } = await import('node:sqlite').catch(() => ({}));

/** Marks a file of the Animal Store: "Anim". */
const APPLICATION_ID = 0x416e696d;

/** The files of a database. */
const PARTS = ['', '-wal', '-shm', '-journal'];

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

function requireOwn(database) {
  if (database.prepare('PRAGMA application_id').get().application_id === APPLICATION_ID) return;
  throw new Error('it is no database of the Animal Store');
}

/** Throws an Error if the file or the copy is not whole. */
async function copyWhole(file, copy) {
  const source = new DatabaseSync(file);
  // A read transaction keeps the copy at one state; without it each commit of the service restarts the copy.
  source.exec('BEGIN');
  requireOwn(source);
  await backup(source, copy);
  source.close();
  const target = new DatabaseSync(copy);
  requireOwn(target);
  const { integrity_check: result } = target.prepare('PRAGMA integrity_check').get();
  target.close();
  if (result !== 'ok') throw new Error(result);
}

/** Makes it survive a crash of the system. */
function sync(path) {
  const fd = openSync(path);
  fsyncSync(fd);
  closeSync(fd);
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
  (existsSync(copy) && statSync(copy).isDirectory() && `${copy} is a folder: name a file`) ||
  secondName(file);
if (problem) {
  console.error(problem);
  process.exit(2);
}
// A link stays.
const name = real(copy) ?? copy;
// Of this process alone: another one may copy at the same time.
const partial = `${name}.${randomUUID()}.partial`;
const discard = () => {
  for (const part of PARTS) rmSync(partial + part, { force: true });
};
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
process.once('exit', discard);
try {
  await copyWhole(file, partial);
  if (existsSync(name)) {
    const { uid, gid, mode } = statSync(name);
    chmodSync(partial, mode);
    if (process.getuid() === 0) chownSync(partial, uid, gid);
  }
  sync(partial);
  // Its log belongs to the copy that is replaced.
  for (const part of PARTS.slice(1)) rmSync(name + part, { force: true });
  renameSync(partial, name);
  sync(dirname(name));
  console.log('ok');
} catch (error) {
  console.error(`${file}: ${error.message}`);
  process.exitCode = 1;
}
