import { DomainError } from '@animal-store/domain';
import type { PrimaryTerm } from './primary.ts';

/** Runs a read, and resolves to a result that contains every write acknowledged before. */
export type ReadBarrier = <T>(read: () => Promise<T>) => Promise<T>;

/** Two confirmations and a read, twice: a primary that is elected meanwhile costs one round. */
const MAX_STEPS = 6;

/**
 * A new primary has every acknowledged write in its log, but it does not know yet that a majority has them: until it has
 * committed a write of its own term, reads with concern `majority` miss the latest of them. So a read runs only on a
 * primary whose term was confirmed, and its result counts only if that primary is still the one that the driver knows:
 * a read that waited for a server ran on whichever primary it found.
 *
 * @param primary The present primary.
 * @param confirm A linearizable read: once it succeeds, the primary has committed a write of its own term.
 * @throws DomainError `storage_unavailable` if primaries change faster than they can be confirmed.
 */
export function createReadBarrier(primary: () => PrimaryTerm | null, confirm: () => Promise<unknown>): ReadBarrier {
  let confirmed: PrimaryTerm | null = null;
  let confirming: Promise<void> | null = null;

  async function confirmTerm(): Promise<void> {
    const term = primary();
    await confirm();
    // Another primary may be there by now: its term is another object.
    confirmed = term;
  }

  return async (read) => {
    for (let step = 1; step <= MAX_STEPS; step += 1) {
      const term = primary();
      if (term === null || term !== confirmed) {
        confirming ??= confirmTerm().finally(() => {
          confirming = null;
        });
        await confirming;
      } else {
        const result = await read();
        if (primary() === term) return result;
      }
    }
    throw new DomainError('storage_unavailable', 'the storage is electing a new primary: try again');
  };
}
