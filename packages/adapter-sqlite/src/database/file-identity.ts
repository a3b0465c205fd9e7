import { statSync } from 'node:fs';

/** The error of a database whose files were deleted or replaced while it was open. */
class FileReplaced extends Error {
  override readonly name = 'FileReplaced';
  readonly code = 'ERR_FILE_REPLACED';
}

/**
 * Which files are at a database's path now: device and inode of the database, its log and the log's index. While a
 * connection is open, SQLite itself neither deletes nor replaces any of them.
 */
export function fileIdentity(path: string): string {
  return [path, `${path}-wal`, `${path}-shm`].map(inode).join(' ');
}

function inode(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'none' : `${stats.dev}:${stats.ino}`;
}

/** @throws FileReplaced if other files are at the path than at the time of `identity`. */
export function checkFileIdentity(path: string, identity: string): void {
  if (fileIdentity(path) !== identity) throw new FileReplaced('the file was deleted or replaced while it was open');
}

/** Also of an error that came from another thread. */
export function isFileReplaced(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ERR_FILE_REPLACED';
}
