// What errors of SQLite and of the system mean.

import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET } from '@animal-store/adapter-kit';
import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

const READ_ONLY = 'this user may not write it or its log (-wal), or the disk is read-only';

/** What failures of one kind mean. */
interface Kind {
  /** SQLite's (https://sqlite.org/rescode.html). A primary code stands for each of its extended ones that has no kind. */
  readonly codes: readonly number[];
  /** What the port reports: `unavailable`, because a later call may succeed, or the failure itself, because it shows a defect. */
  readonly port: 'unavailable' | 'defect';
  /** Which reads fail: this one, or all of its turn of the event loop. */
  readonly reads: 'one' | 'turn' | 'turn if the schema has changed';
  /** Which writes fail: this one, or all of its transaction, whose connection is then closed. */
  readonly writes: 'one' | 'transaction';
  /** What the operator reads, after the path; null: the message of the failure. */
  readonly operator: string | null;
  /** Whether the file may be damaged: damage.ts examines it, and nothing is written meanwhile. */
  readonly isDamage: boolean;
}

const OTHERS = {
  codes: [],
  port: 'unavailable',
  reads: 'one',
  writes: 'transaction',
  operator: null,
  isDamage: false,
} as const;

/** What each failure means. A call tries for 1.3 s before it reports `locked`. */
const KINDS = {
  locked: { ...OTHERS, codes: [5], reads: 'turn' }, // BUSY
  rolledBack: { ...OTHERS, codes: [516] }, // ABORT_ROLLBACK
  // ERROR: a table or an index is missing, or the statement is wrong
  missing: { ...OTHERS, codes: [1], port: 'defect', reads: 'turn if the schema has changed' },
  violated: { ...OTHERS, codes: [19], port: 'defect', writes: 'one' }, // CONSTRAINT
  // CONSTRAINT_UNIQUE: an index of an administrator, because no statement violates those of the schema
  taken: { ...OTHERS, codes: [2_067], writes: 'one' },
  exhausted: { ...OTHERS, codes: [7, 10, 13] }, // NOMEM, IOERR, FULL
  readOnly: { ...OTHERS, codes: [8, 3_850], operator: READ_ONLY }, // READONLY, IOERR_LOCK: opened for reading only
  // READONLY_DIRECTORY
  inReadOnly: { ...OTHERS, codes: [1_544], operator: 'this user may not write its folder, where its log must be' },
  // CANTOPEN
  closed: {
    ...OTHERS,
    codes: [14],
    operator: 'it and its log (-wal) must be files in a folder that exists, has space, and where this user may write',
  },
  // PROTOCOL
  unlockable: { ...OTHERS, codes: [15], operator: 'its file system does not lock files: put it on a local disk' },
  damaged: { ...OTHERS, codes: [11], isDamage: true }, // CORRUPT
  // CORRUPT_VTAB: of somebody else, because the schema has no virtual table
  virtualTable: {
    ...OTHERS,
    codes: [267],
    operator: 'a virtual table that a trigger writes, such as a full-text index, is damaged: rebuild it',
  },
  foreign: { ...OTHERS, codes: [26], operator: 'it is not a SQLite database', isDamage: true }, // NOTADB
  system: OTHERS,
  // ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE: Node.js binds no such value, and has not run the statement
  unbound: { ...OTHERS, port: 'defect', writes: 'one' },
  defect: { ...OTHERS, port: 'defect' },
} as const satisfies Record<string, Kind>;

const BY_CODE: ReadonlyMap<number, Kind> = new Map(
  Object.values<Kind>(KINDS).flatMap((kind) => kind.codes.map((code) => [code, kind] as const)),
);

export const { rolledBack: ROLLED_BACK } = KINDS;

/** The pause between two tries while another process holds a lock, in milliseconds. */
const LOCK_PAUSE = 2;

/** The kind of a failure. */
export function kindOf(error: unknown): Kind {
  const { errcode = 0, code } = error as { readonly errcode?: number; readonly code?: unknown };
  const kind = BY_CODE.get(errcode) ?? BY_CODE.get(resultCode(error));
  if (kind !== undefined) return kind;
  // A call of the system failed, for example with EACCES or EMFILE.
  const isOfSystem = /^(?:E[A-Z\d]+|ERR_WORKER_(?:INIT_FAILED|OUT_OF_MEMORY))$/.test(String(code));
  if (isOfSystem) return KINDS.system;
  return /^ERR_INVALID_ARG/.test(String(code)) ? KINDS.unbound : KINDS.defect;
}

/** The error of a file that can't be used until its operator does something. */
export function unusable(path: string, reason: string, options?: ErrorOptions): StorageMisconfigured {
  return new StorageMisconfigured(`${path} cannot be used: ${reason}`, options);
}

/** The error of the ports for a failure. */
export function toPortError(path: string, failure: unknown): unknown {
  if (DomainError.is(failure) || StorageMisconfigured.is(failure)) return failure;
  const { port, operator } = kindOf(failure);
  if (port === 'defect') return failure;
  return unavailable(operator === null ? failure : unusable(path, operator, { cause: failure }));
}

/** Returns the system's error if too many files are open (EMFILE, ENFILE): SQLite's is that of a missing folder. */
export function failureToOpen(error: unknown): unknown {
  if (kindOf(error) !== KINDS.closed) return error;
  try {
    closeSync(openSync(devNull, 'r'));
    return error;
  } catch (tooMany) {
    return tooMany;
  }
}

/** Whether another connection holds a lock. */
export const isLocked = (error: unknown): boolean => kindOf(error) === KINDS.locked;

/** Whether SQLite rejects a statement because of what the file holds, not because of a lock, the disk or the machine. */
export const isRejection = (error: unknown): error is Error =>
  kindOf(error).isDamage || (resultCode(error) > 0 && kindOf(error).port === 'defect');

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
      if (!isLocked(error) || performance.now() >= end) throw error;
    }
  }
}

/** SQLite's primary result code: the higher bits distinguish kinds of the same failure. 0 if the error is not SQLite's. */
function resultCode(error: unknown): number {
  return Number((error as { errcode?: number }).errcode) & 0xff;
}
