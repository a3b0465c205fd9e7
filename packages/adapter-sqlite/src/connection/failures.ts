import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { isEnvironmental, RESULT, resultCode, UnusableFile } from './errors.ts';

/** What is wrong with a file that an operator must repair. */
const REASONS: Readonly<Record<number, string>> = {
  [RESULT.READONLY]: 'this user may not write it',
  [RESULT.CORRUPT]: 'it is damaged: restore a backup',
  [RESULT.CANTOPEN]: 'it must be a file in a folder that exists, where this user may write',
  [RESULT.PROTOCOL]: 'its file system does not lock files: put it on a local disk',
  [RESULT.NOTADB]: 'it is not a SQLite database',
};

/**
 * The error that `open` throws: StorageMisconfigured if the operator must do something, else SQLite's own, because a later
 * try may succeed.
 */
export function toOpenError(path: string, error: unknown): unknown {
  const reason = REASONS[resultCode(error) ?? -1];
  if (reason === undefined && isEnvironmental(error)) return error;
  return misconfigured(path, reason ?? (error as Error).message, error);
}

/**
 * The error that a port throws: `storage_unavailable` for a failure of the file, the disk or the machine, whose cause is
 * StorageMisconfigured if the operator must do something. A defect stays as it is.
 */
export function toPortError(path: string, error: unknown): unknown {
  if (StorageMisconfigured.is(error)) return inNeedOfRepair(error);
  if (UnusableFile.is(error)) return inNeedOfRepair(misconfigured(path, error.message, error));
  const code = resultCode(error);
  // The files beside an open database are opened again and again, which may fail for a moment.
  if (code === null || code === RESULT.CANTOPEN || REASONS[code] === undefined) {
    return isEnvironmental(error) ? unavailable(error) : error;
  }
  return inNeedOfRepair(misconfigured(path, REASONS[code], error));
}

function inNeedOfRepair(cause: StorageMisconfigured): DomainError {
  return new DomainError('storage_unavailable', 'the storage cannot be used until its operator has repaired it', {
    cause,
  });
}

function misconfigured(path: string, reason: string, cause: unknown): StorageMisconfigured {
  return new StorageMisconfigured(`${path} cannot be used: ${reason}`, { cause });
}
