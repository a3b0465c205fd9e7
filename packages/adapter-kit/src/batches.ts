import { unavailable } from '@animal-store/domain/ports';
import { BUDGET } from './budget.ts';
import type { Limits } from './limits.ts';
import { withTimeout } from './resource.ts';

/**
 * Runs a batch of one item or more. Resolves to the result of each item, in their order; an Error rejects its item alone.
 *
 * @param limits The earliest deadline of its calls. They have ended when each of them has.
 */
export type BatchWork<T, R> = (items: readonly T[], limits: Limits) => Promise<readonly (R | Error)[]>;

export interface BatchOptions {
  /** How many items a batch has at most: 1 or more. */
  readonly maxItems: number;
  /**
   * How many batches run at once: 1 or more.
   *
   * @default 1
   */
  readonly parallel?: number;
  /**
   * How long the next batch waits for one that runs, in milliseconds; then it begins beside it.
   *
   * @default 2_200, in which its calls end
   */
  readonly maxWait?: number;
}

/** A call that waits for its batch. */
interface Waiting<T, R> {
  readonly item: T;
  readonly limits: Limits;
  resolve(result: R): void;
  reject(failure: unknown): void;
}

class BatchLimits implements Limits {
  readonly deadline: number;
  readonly #batch: readonly { readonly limits: Limits }[];

  constructor(batch: readonly { readonly limits: Limits }[]) {
    this.deadline = Math.min(...batch.map(({ limits }) => limits.deadline));
    this.#batch = batch;
  }

  get hasEnded(): boolean {
    return this.#batch.every(({ limits }) => limits.hasEnded);
  }
}

/**
 * Combines calls into batches:
 *
 * - All calls of one turn of the event loop make one batch.
 * - Calls that come while `parallel` batches run wait for the next one, in their order.
 * - No call joins a batch that began before it. So a read sees everything that was acknowledged before it was called.
 *
 * @param work If it rejects or has not a result for each item, each of its items rejects.
 * @returns Adds an item of a call to the next batch, and returns its result. Rejects with DomainError `storage_unavailable` if
 * its call has ended, or has 0.3 seconds left or less, when a batch could begin. A batch that runs has no time limit: its
 * caller needs one, as `createResource` has.
 * @throws RangeError if `maxItems` or `parallel` is less than 1.
 */
export function createBatches<T, R>(
  work: BatchWork<T, R>,
  { maxItems, parallel = 1, maxWait = BUDGET.call }: BatchOptions,
): (item: T, limits: Limits) => Promise<R> {
  if (!(maxItems >= 1 && parallel >= 1)) throw new RangeError('maxItems and parallel must be 1 or more');
  let waiting: Waiting<T, R>[] = [];
  /** How many batches the next one waits for. */
  let running = 0;
  let isScheduled = false;

  /** Starts batches in the next turn. Twice in a turn, each turn would have twice the batches of the one before. */
  function schedule(): void {
    if (isScheduled || running >= parallel) return;
    isScheduled = true;
    setImmediate(start);
  }

  function start(): void {
    isScheduled = false;
    const now = performance.now();
    // A batch has the earliest deadline of its items: a late one would fail the others.
    const canBegin = ({ deadline, hasEnded }: Limits) => deadline > now + BUDGET.rest && !hasEnded;
    waiting = waiting.filter(({ limits, reject }) => canBegin(limits) || reject(tooLate()));
    while (running < parallel && waiting.length > 0) {
      running += 1;
      withTimeout(run(waiting.splice(0, maxItems)), maxWait).then(end, end);
    }
  }

  async function run(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const results = await work(items, new BatchLimits(batch));
      if (results?.length !== batch.length) throw new TypeError(`the work of a batch has no ${batch.length} results`);
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index] as R | Error;
        if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (failure) {
      for (const { reject } of batch) reject(failure);
    }
  }

  /**
   * Also after `maxWait`: then the batch still runs, and its items still get their results. The next batch begins before callers
   * who hold back the results until the next turn deliver them: it has more items, and costs less for each.
   */
  function end(): void {
    running -= 1;
    schedule();
  }

  return (item, limits) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, limits, resolve, reject });
      schedule();
    });
}

const tooLate = () => unavailable(new Error(`no batch could begin ${BUDGET.rest} ms before the deadline`));
