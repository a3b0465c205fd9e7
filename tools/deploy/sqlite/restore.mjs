// Puts a copy in the place of a database: node restore.mjs COPY FILE [IDS]. Stop every process that uses FILE before.
// COPY may be -, the standard input. Prints the first id that the service will assign: IDS ids (1000000) are skipped, because
// clients may know those that were assigned after the copy was made.
import {
  chownSync,
  closeSync,
  createWriteStream,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

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

async function copyTo(restored) {
  if (copy === '-') return pipeline(process.stdin, createWriteStream(restored));
  if (!existsSync(copy)) throw new Error('there is no such file');
  // This includes changes that are still in the copy's own log.
  const source = new DatabaseSync(copy, { readOnly: true });
  await backup(source, restored).finally(() => source.close());
}

/** Checks the copy, raises its counter of ids, and returns the next id. */
function prepare(restored) {
  const database = new DatabaseSync(restored);
  try {
    if (database.prepare('PRAGMA application_id').get().application_id !== APPLICATION_ID) {
      throw new Error('it is no database of the Animal Store');
    }
    const { integrity_check: result } = database.prepare('PRAGMA integrity_check').get();
    if (result !== 'ok') throw new Error(result);
    database.exec(`
      INSERT INTO sqlite_sequence SELECT 'pets', 0 WHERE NOT EXISTS (SELECT * FROM sqlite_sequence WHERE name = 'pets');
      UPDATE sqlite_sequence SET seq = seq + ${BigInt(ids)} WHERE name = 'pets'`);
    return database.prepare("SELECT seq + 1 AS next FROM sqlite_sequence WHERE name = 'pets'").get().next;
  } finally {
    database.close();
  }
}

/** Makes it survive a crash of the system. */
function sync(path) {
  const fd = openSync(path);
  fsyncSync(fd);
  closeSync(fd);
}

// The copy holds what the file holds.
process.umask(0o077);
const [copy, name, ids = '1000000'] = process.argv.slice(2);
const problem =
  (backup === undefined && `needs Node.js 24, this is ${process.version}`) ||
  ((name === undefined || !/^\d{1,12}$/.test(ids)) && 'usage: node restore.mjs COPY FILE [IDS]') ||
  (!existsSync(name) && lstatSync(name, { throwIfNoEntry: false }) && `${name} is a link to no file: name the file`) ||
  secondName(name);
if (problem) {
  console.error(problem);
  process.exit(2);
}
// A link stays, because the service follows it.
const file = existsSync(name) ? realpathSync(name) : name;
const restored = `${file}.restored`;
const discard = () => {
  for (const part of PARTS) rmSync(restored + part, { force: true });
};
// A restore that a signal interrupts leaves the database as it is. A power cut may leave it without what its log held.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
process.once('exit', discard);
try {
  discard();
  await copyTo(restored);
  const next = prepare(restored);
  // The service's user owns the folder.
  const { uid, gid } = statSync(dirname(file));
  chownSync(restored, uid, gid);
  sync(restored);
  // Its log belongs to the database that is replaced.
  for (const part of PARTS.slice(1)) rmSync(file + part, { force: true });
  renameSync(restored, file);
  sync(dirname(file));
  console.log(`ok, the next id is ${next}`);
} catch (error) {
  console.error(`${copy === '-' ? 'the copy' : copy} can't be used: ${error.message}`);
  process.exitCode = 1;
}
