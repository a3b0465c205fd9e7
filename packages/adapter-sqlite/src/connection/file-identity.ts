import { closeSync, openSync, readlinkSync, statSync } from 'node:fs';
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

/** The files of a database that is open, and therefore has a log. */
export function identityOf(path: string): FileIdentity {
  return { database: inodeAt(path), log: inodeAt(`${path}-wal`), index: inodeAt(`${path}-shm`) };
}

/** The files of a database that stays open. */
export interface HeldFiles {
  /** @throws UnusableFile if one of them is no longer at its path; the system's error if one can't be examined. */
  check(): void;
  close(): void;
}

/** Holds the files of an open database. SQLite neither deletes nor replaces any of them while a connection is open. */
export function holdFiles(path: string, identity: FileIdentity): HeldFiles {
  const log = `${path}-wal`;
  const fd = unlessMissing(() => openSync(log, 'r'));
  /** Where the log was when it was last found at its path. */
  let knownLink: string | null = null;

  // Since Linux 6.13, reading the times of a file makes its next fsync write them, too. So the log's inode is read only if
  // its link has changed: `/var/lib/animals.db-wal` until the log is moved or deleted.
  function isLogIntact(): boolean {
    const link = linkTo(fd);
    if (link !== null && link === knownLink) return true;
    if (inodeAt(log) !== identity.log) return false;
    knownLink = link;
    return true;
  }

  function check(): void {
    const areIntact = unlessMissing(
      () => inodeAt(path) === identity.database && inodeAt(`${path}-shm`) === identity.index && isLogIntact(),
    );
    if (!areIntact) throw new UnusableFile(REPLACED);
  }

  try {
    check();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { check, close: () => closeSync(fd) };
}

/** Errors of the system that say that a path leads to no file. */
const NO_FILE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

function unlessMissing<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!NO_FILE.has((cause as NodeJS.ErrnoException).code)) throw cause;
    throw new UnusableFile(REPLACED, { cause });
  }
}

function inodeAt(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** The path of an open file on Linux: another one after it was moved or deleted. null on other systems. */
function linkTo(fd: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}
