// The files of a database. The writer thread uses it: no package may be imported here.

import { closeSync, existsSync, openSync, statfsSync, statSync } from 'node:fs';
import { UnusableFile } from './failures.ts';

/** File systems of a network by their type, as Linux numbers them (statfs(2), linux/magic.h). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x00c36400, 'Ceph'],
]);

/**
 * Creates a file that doesn't exist; SQLite gives `-wal` and `-shm` its mode. Throws UnusableFile for a file that can't hold a
 * database. The write-ahead log needs memory that all processes share, and locks that hold (https://sqlite.org/wal.html).
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
  if (!statSync(path).isFile()) throw new UnusableFile('it must be a regular file');
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(path).type);
  if (network !== undefined) throw new UnusableFile(`it is on a network (${network}): put it on a local disk`);
}

/** The device and the inode of the database, of its log and of the log's index: other ones if a file is another one. */
export function filesAt(path: string): string {
  const stats = ['', '-wal', '-shm'].map((suffix) => statSync(path + suffix, { bigint: true, throwIfNoEntry: false }));
  return stats.map((stat) => `${stat?.dev}:${stat?.ino}`).join();
}
