import { BUDGET } from './budget.ts';

/** When the caller of the work that is being started gives up, by the clock of `performance.now`. */
let current = Number.POSITIVE_INFINITY;

/**
 * The time at which the caller of a port gives up, on the clock of `performance.now`: nothing is begun for it later. The method
 * of the port knows it until it first awaits something. Elsewhere it is the time limit of a call from now on.
 */
export const currentDeadline = (): number => Math.min(current, performance.now() + BUDGET.call);

/** Starts the work of a call whose caller gives up at a time. */
export function startUntil<T, R>(deadline: number, work: (value: T) => R, value: T): R {
  current = deadline;
  try {
    return work(value);
  } finally {
    current = Number.POSITIVE_INFINITY;
  }
}
