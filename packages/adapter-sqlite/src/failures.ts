// What errors of SQLite and of the system mean.

import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET } from '@animal-store/adapter-kit';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

/** SQLite can't run a statement: a table or an index of it is missing. */
export const ERROR = 1;
/** The transaction of a statement was rolled back by another one. */
export const ABORT_ROLLBACK = 516;
/** Another connection holds a lock. */
export const BUSY = 5;
/** One statement has failed, and the transaction can continue. */
export const CONSTRAINT = 19;
const READONLY = 8;
const CORRUPT = 11;
const CANTOPEN = 14;
const NOTADB = 26;

const READ_ONLY = 'this user may not write it or its log (-wal), or the disk is read-only';

/**
 * The result codes of SQLite (https://sqlite.org/rescode.html) whose cause is the file, the disk or the machine, with what
 * `reasonForOperator` returns.
 */
const ENVIRONMENTAL: ReadonlyMap<number, string | null> = new Map([
  [ABORT_ROLLBACK, null],
  [BUSY, null],
  [7, null], // NOMEM
  [READONLY, READ_ONLY], // READONLY
  [1_544, 'this user may not write its folder, where its log must be'], // READONLY_DIRECTORY
  [10, null], // IOERR
  [3_850, READ_ONLY], // IOERR_LOCK: SQLite could open the file for reading only
  [CORRUPT, 'it is damaged: restore a backup'],
  [13, null], // FULL
  [CANTOPEN, 'it and its log (-wal) must be files in a folder that exists, has space, and where this user may write'],
  [15, 'its file system does not lock files: put it on a local disk'], // PROTOCOL
  [NOTADB, 'it is not a SQLite database'],
  [2_067, null], // CONSTRAINT_UNIQUE: an index of an administrator, because no statement violates those of the schema
]);

/** The pause between two tries while another process holds a lock, in milliseconds. */
const LOCK_PAUSE = 2;

/** The error of a file that can't be used until its operator does something. */
export function unusable(path: string, reason: string, options?: ErrorOptions): StorageMisconfigured {
  return new StorageMisconfigured(`${path} cannot be used: ${reason}`, options);
}

/**
 * Why an operator must do something before the file can be used; null if a later call may succeed; undefined for a defect,
 * such as a violated constraint, of which the file, the disk and the machine are not the cause.
 */
export function reasonForOperator(error: unknown): string | null | undefined {
  const { code } = error as { code?: unknown };
  // A call of the system failed, for example with EACCES or EMFILE.
  if (/^(?:E[A-Z\d]+|ERR_WORKER_(?:INIT_FAILED|OUT_OF_MEMORY))$/.test(String(code))) return null;
  const { errcode = 0 } = error as { errcode?: number };
  // An extended code says more than its primary one.
  return ENVIRONMENTAL.get(ENVIRONMENTAL.has(errcode) ? errcode : resultCode(error));
}

/** The error of the ports for a failure; the failure itself if it shows a defect. */
export function toPortError(path: string, failure: unknown): unknown {
  if (DomainError.is(failure) || StorageMisconfigured.is(failure)) return failure;
  const reason = reasonForOperator(failure);
  if (reason === undefined) return failure;
  if (reason === null) return unavailable(failure);
  return unavailable(unusable(path, reason, { cause: failure }));
}

/** Returns the system's error if too many files are open (EMFILE, ENFILE): SQLite's is that of a missing folder. */
export function failureToOpen(error: unknown): unknown {
  if (resultCode(error) !== CANTOPEN) return error;
  try {
    closeSync(openSync(devNull, 'r'));
    return error;
  } catch (tooMany) {
    return tooMany;
  }
}

/** Whether the content of the file is damaged. */
export const isDamage = (error: unknown): boolean => [CORRUPT, NOTADB].includes(resultCode(error));

/** Whether SQLite rejects a statement because of what the file holds, not because of a lock, the disk or the machine. */
export const isRejection = (error: unknown): error is Error =>
  isDamage(error) || (resultCode(error) > 0 && reasonForOperator(error) === undefined);

/**
 * Runs work, and again while another connection holds a lock, without blocking the thread.
 *
 * @param wait How long at most, in milliseconds.
 */
export async function whenUnlocked<R>(work: () => R, wait: number = BUDGET.lock): Promise<R> {
  for (const end = performance.now() + wait; ; await sleep(LOCK_PAUSE)) {
    try {
      return work();
    } catch (error) {
      if (resultCode(error) !== BUSY || performance.now() >= end) throw error;
    }
  }
}

/** SQLite's primary result code: the higher bits distinguish kinds of the same failure. 0 if the error is not SQLite's. */
export function resultCode(error: unknown): number {
  return Number((error as { errcode?: number }).errcode) & 0xff;
}
