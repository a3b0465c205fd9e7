import { withTimeout } from '@animal-store/adapter-kit';
import { DomainError } from '@animal-store/domain';
import { TIME_LIMITS } from '../limits.ts';
import type { PrimaryTerm } from './primary.ts';

/** Runs a read, and resolves to a result that contains every write acknowledged before. */
export type ReadBarrier = <T>(read: () => Promise<T>) => Promise<T>;

/**
 * An attempt takes three steps at most: confirm while no primary is known, confirm the one that is known then, read. Two attempts
 * survive one election.
 */
const MAX_STEPS = 6;

/**
 * A new primary has every acknowledged write in its log, but it does not know yet that a majority has them: until it has
 * committed a write of its own term, reads with concern `majority` miss the latest of them
 * (docs/decisions/README.md). So each step depends on the current term:
 *
 * | current term                          | step                                                      |
 * | ------------------------------------- | --------------------------------------------------------- |
 * | none, or not confirmed                | confirm it, once for all reads that wait; look again      |
 * | confirmed, the same after the read    | return the result                                         |
 * | confirmed, another one after the read | discard the result, which may be of the other; look again |
 *
 * @param confirm A linearizable read: once it succeeds, the primary has committed a write of its own term.
 * @throws DomainError `storage_unavailable` if no primary stays known for long enough; and the errors of `confirm` and `read`.
 */
export function createReadBarrier(currentTerm: () => PrimaryTerm | null, confirm: () => Promise<unknown>): ReadBarrier {
  let confirmedTerm: PrimaryTerm | null = null;
  let confirming: Promise<void> | null = null;

  /** Confirms for all reads that come within the time of a batch: on a dead connection a confirmation may never end. */
  function confirmOnce(): Promise<void> {
    const end = () => {
      if (confirming === shared) confirming = null;
    };
    const shared = confirmCurrentTerm().finally(end);
    withTimeout(shared, TIME_LIMITS.batch).catch(end);
    return shared;
  }

  async function confirmCurrentTerm(): Promise<void> {
    const term = currentTerm();
    await confirm();
    // If an election happened meanwhile, this is no longer the current object, and the next step confirms again.
    confirmedTerm = term;
  }

  return async (read) => {
    for (let step = 1; step <= MAX_STEPS; step += 1) {
      const term = currentTerm();
      if (term === null || term !== confirmedTerm) {
        confirming ??= confirmOnce();
        await confirming;
      } else {
        const result = await read();
        if (currentTerm() === term) return result;
      }
    }
    throw new DomainError('storage_unavailable', 'the storage is electing a new primary: try again');
  };
}
