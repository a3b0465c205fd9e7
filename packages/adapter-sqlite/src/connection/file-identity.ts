import { closeSync, existsSync, openSync, readlinkSync, statSync } from 'node:fs';
import { UnusableFile } from './errors.ts';

const REPLACED =
  'it or its log was deleted or replaced while it was open: stop every process that uses it, and put the file back';

/** Which files a database has: the device and the inode of each. */
export interface FileIdentity {
  readonly database: string;
  readonly log: string;
  /** The index of the log. */
  readonly index: string;
}

/**
 * The files of a database that is open, and therefore has a log.
 *
 * @throws Error of the system.
 */
export function identityOf(path: string): FileIdentity {
  return { database: inodeAt(path), log: inodeAt(logOf(path)), index: inodeAt(indexOf(path)) };
}

/** The files of a database that stays open. */
export interface HeldFiles {
  /** @throws UnusableFile if one of them is no longer at its path. */
  check(): void;
  close(): void;
}

/**
 * Holds the files of an open database. SQLite itself neither deletes nor replaces any of them while a connection is open.
 *
 * @throws UnusableFile if they are not the files of this identity. Here and in `check`, the system's error if a file can't
 * be examined.
 */
export function holdFiles(path: string, identity: FileIdentity): HeldFiles {
  const log = logOf(path);
  const hasLog = () => inodeAt(log) === identity.log;
  throwUnlessIntact(hasLog);
  const fd = openSync(log, 'r');
  const link = linkTo(fd);
  // Since Linux 6.13, reading the times of a file makes its next fsync write them, too. So the log's link is read, which says
  // `/var/lib/animals.db-wal` until the log is moved or deleted; its inode only if that has changed, or there are no links.
  const hasLink = () => link !== null && linkTo(fd) === link && existsSync(log);

  function check(): void {
    throwUnlessIntact(
      () => inodeAt(path) === identity.database && inodeAt(indexOf(path)) === identity.index && (hasLink() || hasLog()),
    );
  }

  try {
    // It was not replaced just before it was opened.
    throwUnlessIntact(hasLog);
    check();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { check, close: () => closeSync(fd) };
}

/** Errors of the system that say that a path leads to no file. */
const NO_FILE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

function throwUnlessIntact(areIntact: () => boolean): void {
  let cause: unknown;
  try {
    if (areIntact()) return;
  } catch (error) {
    if (!NO_FILE.has((error as NodeJS.ErrnoException).code)) throw error;
    cause = error;
  }
  throw new UnusableFile(REPLACED, { cause });
}

function logOf(path: string): string {
  return `${path}-wal`;
}

function indexOf(path: string): string {
  return `${path}-shm`;
}

function inodeAt(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** Where an open file is, as Linux says: another path once it was moved or deleted. null on other systems. */
function linkTo(fd: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}
