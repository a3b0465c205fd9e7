import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnusableFile } from './errors.ts';

/** File systems of a network by their type, as Linux numbers them (statfs(2), linux/magic.h). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
]);

/** Throws UnusableFile for names that SQLite would take for something else than a file: `:memory:` and URIs. */
export function checkName(file: string): void {
  if (!/^(?::memory:$|file:)/.test(file)) return;
  throw new UnusableFile(`it is a name of SQLite, not a path: for a file of that name write ./${file}`);
}

/** Throws UnusableFile for a place that can't hold a database. SQLite checks a place that can't be examined. */
export function checkPlace(path: string): void {
  const exists = existsSync(path);
  if (exists && !statSync(path).isFile()) throw new UnusableFile('it must be a regular file');
  checkFileSystem(fileSystemOf(exists ? path : dirname(path)));
}

/**
 * Throws UnusableFile for file systems of a network: the write-ahead log needs memory that all processes share, and locks
 * that hold (https://sqlite.org/wal.html). Without locks SQLite blocks its thread for 10 seconds in each call.
 */
export function checkFileSystem(type: number | null): void {
  const name = NETWORK_FILE_SYSTEMS.get(type ?? 0);
  if (name !== undefined) throw new UnusableFile(`it is on a network (${name}): put it on a local disk`);
}

function fileSystemOf(path: string): number | null {
  try {
    return statfsSync(path).type;
  } catch {
    return null;
  }
}
