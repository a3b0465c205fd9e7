import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { CANTOPEN, isEnvironmental, reasonForOperator, resultCode } from './errors.ts';

/** The configuration error that an error at the opening shows; null if the file may be opened later without a change. */
export function toMisconfigured(path: string, error: unknown): StorageMisconfigured | null {
  const reason = reasonForOperator(error);
  if (reason === null && isEnvironmental(error)) return null;
  return misconfigured(path, reason ?? (error as Error).message, error);
}

/**
 * The error that a port throws: `storage_unavailable` for a failure of the file, the disk or the machine, whose cause is
 * StorageMisconfigured if the operator must do something. A defect stays as it is.
 */
export function toPortError(path: string, error: unknown): unknown {
  const reason = reasonForOperator(error);
  // The files beside an open database are opened again and again, which may fail for a short time.
  if (reason === null || resultCode(error) === CANTOPEN) return isEnvironmental(error) ? unavailable(error) : error;
  return new DomainError('storage_unavailable', 'the storage cannot be used until its operator has repaired it', {
    cause: misconfigured(path, reason, error),
  });
}

function misconfigured(path: string, reason: string, cause: unknown): StorageMisconfigured {
  return new StorageMisconfigured(`${path} cannot be used: ${reason}`, { cause });
}
