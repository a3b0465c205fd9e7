import { unavailable } from '@animal-store/domain/ports';
import type { Limits } from './limits.ts';

/**
 * The time until the deadline of a call, in whole milliseconds, 1 or more: what a timer accepts.
 *
 * @throws DomainError `storage_unavailable` if the deadline is over or nobody waits: what begins now would surprise the caller.
 * @example const timer = setTimeout(() => request.abort(), timeLeft(call)); // Cleared when the response has come.
 */
export function timeLeft({ deadline, hasEnded }: Limits): number {
  const left = Math.floor(deadline - performance.now());
  if (left < 1 || hasEnded) throw unavailable(new Error('the storage could not begin in time'));
  return left;
}
