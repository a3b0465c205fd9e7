import { inspect } from 'node:util';
import { createThrottle } from '@animal-store/async';
import { DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';

/** Reports the error of a call, unless it is for the caller. */
export type ReportError = (error: unknown) => void;

/**
 * Reports errors of calls to the operator: defects with their stack, and the reason why the storage is unavailable. Each
 * kind is reported at once, and then once a minute.
 */
export function createErrorReport(write: (message: string) => void): ReportError {
  const isUnexpectedDue = createThrottle();
  const isUnavailableDue = createThrottle();
  return (error) => {
    if (!DomainError.is(error)) {
      const times = isUnexpectedDue();
      if (times > 0) write(`unexpected error${times > 1 ? ` (${times} since the last)` : ''}: ${inspect(error)}`);
    } else if (error.code === 'storage_unavailable' && isUnavailableDue() > 0) {
      write(`the storage is unavailable: ${reasonOf(error)}`);
    }
  };
}
