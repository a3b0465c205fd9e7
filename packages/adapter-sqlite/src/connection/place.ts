import { statfsSync, statSync } from 'node:fs';
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

/**
 * Rejects names that SQLite would take for something else than a file: `:memory:` and URIs.
 *
 * @throws UnusableFile
 */
export function checkName(file: string): void {
  if (!/^(?::memory:$|file:)/.test(file)) return;
  throw new UnusableFile(`it is a name of SQLite, not a path: for a file of that name write ./${file}`);
}

/**
 * Rejects what can't hold a database, before anything is created there. A place that can't be examined is left to SQLite.
 *
 * @param path An absolute path.
 * @throws UnusableFile
 */
export function checkPlace(path: string): void {
  const [isFile, type] = examine(path) ?? [true, 0];
  if (!isFile) throw new UnusableFile('it must be a regular file');
  checkFileSystem(type);
}

/**
 * Rejects file systems of a network: the write-ahead log needs memory that all processes share, and locks that hold
 * (https://sqlite.org/wal.html). Without locks SQLite blocks its thread for 10 seconds in each call.
 *
 * @throws UnusableFile
 */
export function checkFileSystem(type: number): void {
  const name = NETWORK_FILE_SYSTEMS.get(type);
  if (name !== undefined) throw new UnusableFile(`it is on a network (${name}): put it on a local disk`);
}

function examine(path: string): [isFile: boolean, fileSystem: number] | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return [stats?.isFile() ?? true, statfsSync(stats === undefined ? dirname(path) : path).type];
  } catch {
    return null;
  }
}
