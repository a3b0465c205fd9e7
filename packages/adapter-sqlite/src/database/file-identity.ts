import { existsSync, statSync } from 'node:fs';

/** The error of a database that was deleted or replaced while it was open. */
class FileReplaced extends Error {
  override readonly name = 'FileReplaced';
  readonly code = 'ERR_FILE_REPLACED';
}

/** Which file is at a path: its device and inode. */
export function fileIdentity(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'none' : `${stats.dev}:${stats.ino}`;
}

/**
 * Checks that an open database still has its file, its log and the log's index. SQLite itself neither deletes nor replaces
 * any of them while a connection is open.
 *
 * @throws FileReplaced
 */
export function checkFiles(path: string, identity: string): void {
  // No inode of the log: since Linux 6.13, reading the times of a file makes its next fsync write them, too.
  const isIntact = fileIdentity(path) === identity && existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
  if (!isIntact) throw new FileReplaced('the file was deleted or replaced while it was open');
}

/** Also of an error that came from another thread. */
export function isFileReplaced(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ERR_FILE_REPLACED';
}
