// The meaning of errors of SQLite and of the system. The writer thread uses it: no package may be imported here.

const BUSY = 5;
const CORRUPT = 11;
const NOTADB = 26;
export const CANTOPEN = 14;

/**
 * Primary result codes (https://sqlite.org/rescode.html) whose cause is the file, the disk or the machine. Each with the
 * reason why an operator must do something; null if a later call may succeed.
 */
const ENVIRONMENTAL: ReadonlyMap<number, string | null> = new Map([
  [BUSY, null],
  [7, null], // NOMEM
  [8, 'this user may not write it'], // READONLY
  [10, null], // IOERR
  [CORRUPT, 'it is damaged: restore a backup'],
  [13, null], // FULL
  [CANTOPEN, 'it must be a file in a folder that exists, where this user may write'],
  [15, 'its file system does not lock files: put it on a local disk'], // PROTOCOL
  [NOTADB, 'it is not a SQLite database'],
]);

/** The error of a file that can't be used until its operator does something. The message is the reason. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  readonly code = 'ERR_UNUSABLE_FILE';
}

/** Why an operator must do something before the file can be used; null if nothing says so. */
export function reasonForOperator(error: unknown): string | null {
  if (codeOf(error) === 'ERR_UNUSABLE_FILE') return (error as UnusableFile).message;
  return ENVIRONMENTAL.get(resultCode(error)) ?? null;
}

/** SQLite's primary result code, or 0 if the error is not SQLite's. */
export function resultCode(error: unknown): number {
  // The higher bits distinguish kinds of the same failure.
  return Number((error as { errcode?: number }).errcode) & 0xff;
}

/** Whether another connection held a lock: the same call may succeed later. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY;
}

/** Whether the content of the file is damaged. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === CORRUPT || code === NOTADB;
}

/** Whether the file, the disk or the machine is the cause. Any other error, such as a violated constraint, is a defect. */
export function isEnvironmental(error: unknown): boolean {
  if (ENVIRONMENTAL.has(resultCode(error))) return true;
  // A call of the system failed, for example with EACCES or EMFILE.
  return /^E[A-Z\d]+$/.test(String(codeOf(error)));
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** An error that crosses threads: structuredClone keeps its name, message and stack, and drops its other members. */
export type ErrorMessage = readonly [error: object, members: object];

export function toMessage(error: unknown): ErrorMessage {
  return [error as object, { ...(error as object) }];
}

export function fromMessage([error, members]: ErrorMessage): unknown {
  return Object.assign(error, members);
}
