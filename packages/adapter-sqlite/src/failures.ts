// What errors of SQLite and of the system mean. The writer thread uses it: no package may be imported here.

import { setTimeout as sleep } from 'node:timers/promises';

const BUSY = 5;
const CORRUPT = 11;
const CONSTRAINT = 19;
const NOTADB = 26;

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
  [14, 'it must be a file in a folder that exists, where this user may write'], // CANTOPEN
  [15, 'its file system does not lock files: put it on a local disk'], // PROTOCOL
  [NOTADB, 'it is not a SQLite database'],
]);

/** How long a call waits while another process holds a lock, and its pause between two tries, in milliseconds. */
const LOCK_WAIT = 1_500;
const LOCK_PAUSE = 2;

/** The error of a file that can't be used until its operator does something. Its message is the reason. */
export class UnusableFile extends Error {
  readonly code = 'ERR_UNUSABLE_FILE';
}

/** Why an operator must do something before the file can be used; null if nothing says so. */
export function reasonForOperator(error: unknown): string | null {
  if (codeOf(error) === 'ERR_UNUSABLE_FILE') return (error as UnusableFile).message;
  return ENVIRONMENTAL.get(resultCode(error)) ?? null;
}

/** Whether the file, the disk or the machine is the cause. Any other error, such as a violated constraint, is a defect. */
export function isEnvironmental(error: unknown): boolean {
  if (ENVIRONMENTAL.has(resultCode(error)) || (error as Error).name === 'TimeoutError') return true;
  // A call of the system failed, for example with EACCES or EMFILE.
  return /^(?:E[A-Z\d]+|ERR_UNUSABLE_FILE|ERR_WORKER_INIT_FAILED)$/.test(String(codeOf(error)));
}

/** Whether the content of the file is damaged. */
export const isDamage = (error: unknown): boolean => [CORRUPT, NOTADB].includes(resultCode(error));

/** Whether one statement has failed, and the transaction can continue. */
export const isConstraint = (error: unknown): boolean => resultCode(error) === CONSTRAINT;

/** Whether another connection holds a lock. */
export const isBusy = (error: unknown): boolean => resultCode(error) === BUSY;

/** Runs work, and again while another connection holds a lock, without blocking the thread. */
export async function whenUnlocked<R>(work: () => R): Promise<R> {
  for (const end = performance.now() + LOCK_WAIT; ; await sleep(LOCK_PAUSE)) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw error;
    }
  }
}

/** SQLite's primary result code: the higher bits distinguish kinds of the same failure. 0 if the error is not SQLite's. */
function resultCode(error: unknown): number {
  return Number((error as { errcode?: number }).errcode) & 0xff;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
