import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';

/** The time between two reports of one kind, in milliseconds. */
const INTERVAL = 60_000;

/** Reports the error of a call, unless it is for the caller. */
export type ReportError = (error: unknown) => void;

/**
 * Reports errors of calls to the operator: defects with their stack, and the reason why the storage is unavailable. Each
 * kind is reported at most once a minute.
 */
export function createErrorReport(write: (message: string) => void): ReportError {
  const reportedAt = new Map<string, number>();
  return (error) => {
    const code = DomainError.is(error) ? error.code : 'unexpected';
    const now = performance.now();
    const isReported = code === 'unexpected' || code === 'storage_unavailable';
    if (!isReported || now - (reportedAt.get(code) ?? Number.NEGATIVE_INFINITY) < INTERVAL) return;
    reportedAt.set(code, now);
    write(
      code === 'unexpected' ? `unexpected error: ${inspect(error)}` : `the storage is unavailable: ${reasonOf(error)}`,
    );
  };
}
