import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';

const BUSY = 5;

/** Why a file can't be opened, by SQLite's primary result codes. */
const REASONS: Readonly<Record<number, string>> = {
  [BUSY]: 'another program keeps it locked',
  8: 'this user may not write it',
  11: 'it is damaged: restore a backup',
  13: 'the disk is full',
  14: 'it must be a file in a folder that exists, where this user may write',
  26: 'it is no SQLite database',
};

/** SQLite's primary result code; null for what is no error of SQLite. */
function resultCode(failure: unknown): number | null {
  const { code, errcode } = failure as { code?: unknown; errcode?: number };
  // The rest of the bits tell kinds of the same failure apart.
  return code === 'ERR_SQLITE_ERROR' && errcode !== undefined ? errcode & 0xff : null;
}

/** Whether another process was at work: the same call may succeed in a moment. */
export function isBusy(failure: unknown): boolean {
  return resultCode(failure) === BUSY;
}

/** A failure as the ports throw it: SQLite's as `storage_unavailable`, anything else (a defect) as it is. */
export function asThrown(failure: unknown): unknown {
  if (resultCode(failure) === null) return failure;
  return new DomainError('storage_unavailable', 'the storage cannot be read or written now: try again', {
    cause: failure,
  });
}

/** What the operator is told of a file that can't be opened, in one line. */
export function cannotOpen(path: string, failure: unknown): StorageMisconfigured {
  const reason = REASONS[resultCode(failure) ?? -1] ?? (failure as Error).message;
  return new StorageMisconfigured(`${path} cannot be used: ${reason}`, { cause: failure });
}
