import { unavailable } from '@animal-store/domain/ports';

/**
 * The time until the deadline of a call, in whole milliseconds, 1 or more: what `AbortSignal.timeout` accepts.
 *
 * @throws DomainError `storage_unavailable` if the deadline is over: what begins now would surprise the caller.
 * @example const timer = setTimeout(() => request.abort(), timeLeft(deadline)); // Cleared when the response has come.
 */
export function timeLeft(deadline: number): number {
  const left = Math.floor(deadline - performance.now());
  if (left < 1) throw unavailable(new Error('the storage could not begin in time'));
  return left;
}
