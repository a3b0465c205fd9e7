import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { isEnvironmental, RESULT, resultCode } from './result-codes.ts';

/** Why a file can't be opened. */
const REASONS: Readonly<Record<number, string>> = {
  [RESULT.READONLY]: 'this user may not write it',
  [RESULT.CORRUPT]: 'it is damaged: restore a backup',
  [RESULT.FULL]: 'the disk is full',
  [RESULT.CANTOPEN]: 'it must be a file in a folder that exists, where this user may write',
  [RESULT.NOTADB]: 'it is no SQLite database',
};

/** An error as the ports throw it: a failure of the file or the disk as `storage_unavailable`, a defect as it is. */
export function asThrown(error: unknown): unknown {
  return isEnvironmental(error) ? unavailable(error) : error;
}

/** @param cause For the log. The caller sees nothing of it. */
export function unavailable(cause: unknown): DomainError {
  return new DomainError('storage_unavailable', 'the storage cannot be read or written now: try again', { cause });
}

/** What every call after `close` ends with. */
export function closed(): DomainError {
  return new DomainError('storage_unavailable', 'the storage is closed');
}

/** The error for the operator of a file that can't be opened. */
export function cannotOpen(path: string, error: unknown): StorageMisconfigured {
  const reason = REASONS[resultCode(error) ?? -1] ?? (error as Error).message;
  return new StorageMisconfigured(`${path} cannot be used: ${reason}`, { cause: error });
}
