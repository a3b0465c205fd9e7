// What errors of SQLite and of the system mean. The writer thread uses it: no package may be imported here.

/** Primary result codes (https://sqlite.org/rescode.html) whose cause is the file, the disk or the machine. */
export const RESULT = {
  BUSY: 5,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  NOTADB: 26,
} as const;

const ENVIRONMENTAL: ReadonlySet<number> = new Set(Object.values(RESULT));

/** The error of a file that can't be used until its operator does something. The message is the reason. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  readonly code = 'ERR_UNUSABLE_FILE';

  /** Also of an error that came from another thread. */
  static is(error: unknown): error is UnusableFile {
    return (error as { code?: unknown } | null | undefined)?.code === 'ERR_UNUSABLE_FILE';
  }
}

/** SQLite's primary result code, or null if the error is not SQLite's. */
export function resultCode(error: unknown): number | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: number };
  // The higher bits distinguish kinds of the same failure.
  return code === 'ERR_SQLITE_ERROR' && errcode !== undefined ? errcode & 0xff : null;
}

/** Whether another connection held a lock: the same call may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === RESULT.BUSY;
}

/** Whether what the file contains is damaged. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === RESULT.CORRUPT || code === RESULT.NOTADB;
}

/** Whether the file, the disk or the machine is the cause. Any other error, a violated constraint say, is a defect. */
export function isEnvironmental(error: unknown): boolean {
  return ENVIRONMENTAL.has(resultCode(error) ?? -1) || isSystemError(error);
}

/** Whether a call of the system failed, like EACCES or EMFILE. Also of an error that came from another thread. */
function isSystemError(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^E(?!RR_)[A-Z\d]+$/.test(code);
}
