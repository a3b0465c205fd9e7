import { setTimeout as pause } from 'node:timers/promises';

/** Faults of a database by name. Each function injects a fault and repairs it. */
export type Faults = Readonly<Record<string, () => Promise<void>>>;

export interface FaultPlan {
  readonly faults: Faults;
  readonly seconds: number;
  /** Returns the database's own diagnosis. */
  readonly diagnose: () => Promise<string>;
}

/** How long the database may take to recover from a fault, in milliseconds. */
const RECOVERY_TIMEOUT = 300_000;

/** How many pets must be acknowledged before the next fault. */
const PROGRESS = 100;

/**
 * Lets the database suffer all faults in turn, in a new random order each round, and recover after each. The first round is
 * always complete.
 *
 * @param acknowledged How many pets have been acknowledged so far.
 * @returns How often each fault happened.
 * @throws Error if the database does not recover.
 */
export async function injectFaults(
  { faults, seconds, diagnose }: FaultPlan,
  acknowledged: () => number,
): Promise<Record<string, number>> {
  const end = performance.now() + seconds * 1_000;
  const counts = Object.fromEntries(Object.keys(faults).map((fault) => [fault, 0]));

  async function recovery(after: string): Promise<void> {
    const goal = acknowledged() + PROGRESS;
    const deadline = performance.now() + RECOVERY_TIMEOUT;
    while (acknowledged() < goal) {
      if (performance.now() > deadline) {
        throw new Error(`no recovery in ${RECOVERY_TIMEOUT} ms after ${after}: ${await diagnose()}`);
      }
      await pause(20);
    }
  }

  await recovery('the start');
  do {
    for (const [fault, inject] of shuffled(Object.entries(faults))) {
      const count = counts[fault] as number;
      if (performance.now() > end && count > 0) break;
      await inject();
      counts[fault] = count + 1;
      await recovery(fault);
    }
  } while (performance.now() <= end);
  return counts;
}

export function shuffled<T>(values: readonly T[]): T[] {
  const keyed = values.map((value) => ({ value, key: Math.random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ value }) => value);
}
