import { unavailable } from '@animal-store/domain/ports';
import { TIME_LIMITS } from './url.ts';

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
