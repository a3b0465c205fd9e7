import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { unusable } from './failures.ts';

/** File systems of a network by their type, as Linux numbers them (statfs(2), linux/magic.h). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x00c36400, 'Ceph'],
]);

/** The mounts that a process of Linux sees, with some characters in octal (proc(5)). */
const MOUNTS = '/proc/self/mountinfo';

/** The path of a file without links, also of one that doesn't exist yet: the log lies beside the file, not beside a link. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // SQLite reports why it can't be opened.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return path;
    const folder = realPathOf(dirname(path));
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? realPathOf(resolve(folder, readlinkSync(path))) : join(folder, basename(path));
  }
}

/**
 * Creates a file that doesn't exist; SQLite gives `-wal` and `-shm` its mode. The write-ahead log needs memory that all processes share, and locks that hold (https://sqlite.org/wal.html).
 *
 * @throws StorageMisconfigured if the file can't hold a database.
 */
export function createFile(path: string): void {
  try {
    // This opens new files only: closing one that a connection of this process has open would drop the connection's locks
    // (POSIX advisory locks, https://sqlite.org/howtocorrupt.html, 2.2).
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It exists, or SQLite reports why it can't be created.
  }
  if (!existsSync(path)) return;
  const stat = statSync(path);
  if (!stat.isFile()) throw unusable(path, 'it must be a regular file');
  // Each name of a file has a log of its own (https://sqlite.org/howtocorrupt.html, 2.5).
  if (stat.nlink > 1) {
    const advice = 'keep only the one that has a log (-wal) beside it, and make copies with backup.mjs';
    throw unusable(path, `it has a second name (a hard link): ${advice}`);
  }
  if (isMounted(path)) throw unusable(path, 'it is mounted without its log: mount its folder instead');
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(path).type);
  if (network !== undefined) throw unusable(path, `it is on a network (${network}): put it on a local disk`);
}

/**
 * The path, the device and the inode of the database, of its log and of the log's index: other ones if a file is another one.
 *
 * @param name A link may lead to another file later.
 */
export function filesAt(name: string): string {
  const path = realPathOf(name);
  const stats = ['', '-wal', '-shm'].map((suffix) => statSync(path + suffix, { bigint: true, throwIfNoEntry: false }));
  return [path, ...stats.map((stat) => `${stat?.dev}:${stat?.ino}`)].join();
}

/** Whether a file is a mount by itself, not only in one. */
function isMounted(path: string): boolean {
  const mounts = existsSync(MOUNTS) ? readFileSync(MOUNTS, 'utf8').split('\n') : [];
  const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  const mounted = path.replace(/[ \t\n\\]/g, octal);
  return mounts.some((mount) => mount.split(' ')[4] === mounted);
}
