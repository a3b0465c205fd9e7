import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { unusable } from './failures.ts';

/** File systems of a network by their type, as Linux numbers them (statfs(2), linux/magic.h). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x00c36400, 'Ceph'],
]);

/** The mounts that a process of Linux sees (proc(5)). */
const MOUNTS = '/proc/self/mountinfo';

const HARD_LINK =
  'it has a second name (a hard link): keep only the one with a log (-wal), and copy with animal-store backup';

const LOG_ALONE = 'it is gone or empty, and its log (-wal) is not: put the file back, or move the log away';

const REPLACED =
  'it or its log was deleted or replaced while it was open: stop every process that uses it, and put the file back';

/** @throws StorageMisconfigured if a name is one of SQLite or a URL, which may hold a password; TypeError if it is empty. */
export function pathOf(file: string): string {
  if (file === '') throw new TypeError('file must be a path, was empty');
  if (/^[\w+]+:\/\//.test(file)) throw new StorageMisconfigured('the file must be a path, not a URL');
  if (/^(?::memory:$|file:)/.test(file)) {
    throw new StorageMisconfigured(`${file} is a name of SQLite, not a path: for a file of that name write ./${file}`);
  }
  return resolve(file);
}

/**
 * The path without links: the log lies beside the file, not beside a link. Links to nothing are replaced by what they name.
 *
 * @param links How many links may lead to each other: Linux follows 40.
 */
export function realPathOf(path: string, links = 40): string {
  if (existsSync(path)) return realpathSync.native(path);
  if (links === 0) return path;
  try {
    return realPathOf(resolve(realpathSync.native(dirname(path)), readlinkSync(path)), links - 1);
  } catch {
    return path;
  }
}

/**
 * Creates a file that doesn't exist; SQLite gives `-wal` and `-shm` its mode. The write-ahead log needs memory that all
 * processes share, and locks that hold (https://sqlite.org/wal.html).
 *
 * @throws StorageMisconfigured if the file can't hold a database.
 */
export function createFile(path: string): void {
  requireNoLogAlone(path);
  // This opens new files only: closing one that a connection of this process has open would drop the connection's locks
  // (POSIX advisory locks, https://sqlite.org/howtocorrupt.html, 2.2). 'a' follows a link to a file that doesn't exist.
  for (const flags of ['wx', 'a']) {
    try {
      if (!existsSync(path)) closeSync(openSync(path, flags, 0o600));
    } catch {
      // SQLite reports why it can't be created.
    }
  }
  if (existsSync(path)) requireFile(path);
}

/** @throws StorageMisconfigured if there is no file, or it can't hold a database. */
export function requireFile(path: string): void {
  requireNoLogAlone(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new StorageMisconfigured(`there is no file ${path} that this user may see`);
  if (!stat.isFile()) throw unusable(path, 'it must be a regular file');
  // Each name of a file has a log of its own (https://sqlite.org/howtocorrupt.html, 2.5).
  if (stat.nlink > 1) throw unusable(path, HARD_LINK);
  if (isMounted(realPathOf(path))) throw unusable(path, 'it is mounted without its log: mount its folder instead');
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(path).type);
  if (network !== undefined) throw unusable(path, `it is on a network (${network}): put it on a local disk`);
}

/** @throws StorageMisconfigured if a log has lost its file: SQLite deletes the log of an empty one. */
function requireNoLogAlone(path: string): void {
  const log = `${realPathOf(path)}-wal`;
  // Before the file: a process that creates both writes the file first.
  const hasLog = existsSync(log) && statSync(log, { throwIfNoEntry: false })?.size !== 0;
  if (hasLog && !statSync(path, { throwIfNoEntry: false })?.size) throw unusable(path, LOG_ALONE);
}

/** A database, and the devices and inodes of its files when it was opened. */
export interface Place {
  readonly path: string;
  readonly identities: ReadonlyMap<string, string>;
}

/** The files are the database, also by the link that leads to it, its log and the log's index. */
export function placeOf(path: string): Place {
  const parts = ['', '-wal', '-shm'].map((suffix) => realPathOf(path) + suffix);
  return { path, identities: new Map([path, ...parts].map((file) => [file, identityOf(file)])) };
}

/** @throws StorageMisconfigured if a file is missing, or is another one. */
export function checkPlace({ path, identities }: Place): void {
  for (const [file, identity] of identities) if (identityOf(file) !== identity) throw unusable(path, REPLACED);
}

/** The device and the inode that a path leads to. */
export function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return `${stat?.dev}:${stat?.ino}`;
}

/** Whether a file is itself a mount, not only in one. Linux lists space, tab, newline and backslash in octal: `\040`. */
function isMounted(path: string): boolean {
  const listed = path.replace(/[ \t\n\\]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`);
  const mounts = existsSync(MOUNTS) ? readFileSync(MOUNTS, 'utf8').split('\n') : [];
  return mounts.some((mount) => mount.split(' ')[4] === listed);
}
