import { BUDGET } from '@animal-store/adapter-kit';
import { unavailable } from '@animal-store/domain/ports';

/** In milliseconds. */
export const TIME_LIMITS = {
  /** The work on the server, and the wait for the majority of its members. */
  operation: BUDGET.server,
  /** How long a batch delays the next one of its kind: the next one begins while its callers still have the time of the driver. */
  batch: BUDGET.call - BUDGET.driver,
};

/**
 * The time limit of an operation in milliseconds, which ends before its callers give up.
 *
 * @throws DomainError `storage_unavailable` if they have given up: an operation that begins now would surprise them.
 */
export function requireTime(deadline: number): number {
  const left = Math.floor(deadline - performance.now());
  if (left <= 0) throw unavailable(new Error('the storage could not begin in time'));
  return Math.min(left, TIME_LIMITS.operation);
}
