import { unavailable } from '@animal-store/domain/ports';
import { BUDGET } from './budget.ts';
import { withTimeout } from './resource.ts';

/**
 * Runs a batch of one item or more. Resolves to the result of each item, in their order; an Error rejects its item alone.
 *
 * @param deadline When the first of its callers gives up, on the clock of `performance.now`. Nothing is written after it.
 */
export type BatchWork<T, R> = (items: readonly T[], deadline: number) => Promise<readonly (R | Error)[]>;

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
   * The time limit of a batch in milliseconds, after which the next one starts beside it.
   *
   * @default 1_900
   */
  readonly timeout?: number;
}

/** A call that waits for its batch. `since` is of the clock of `performance.now`. */
interface Waiting<T, R> {
  readonly item: T;
  readonly since: number;
  resolve(result: R): void;
  reject(failure: unknown): void;
}

/**
 * Combines calls into batches. All calls of one turn of the event loop make one batch; calls that come while `parallel`
 * batches run wait for the next one, in their order. No call joins a batch that began before it: a read sees everything that
 * was acknowledged before it was called, and a write is acknowledged when it is done.
 *
 * @param work If it rejects or has not a result for each item, each of its items rejects.
 * @returns Adds an item to the next batch, and returns its result. Rejects with DomainError `storage_unavailable` if it has
 * waited for 2.2 seconds, the limit of a call (`createResource`), when a batch could begin.
 * @throws RangeError if `maxItems` or `parallel` is less than 1.
 */
export function createBatches<T, R>(
  work: BatchWork<T, R>,
  { maxItems, parallel = 1, timeout = BUDGET.driver }: BatchOptions,
): (item: T) => Promise<R> {
  if (!(maxItems >= 1 && parallel >= 1)) throw new RangeError('maxItems and parallel must be 1 or more');
  const waiting: Waiting<T, R>[] = [];
  let running = 0;

  function start(): void {
    // Calls that waited longer than the limit: their callers have given up.
    const late = performance.now() - BUDGET.call;
    while (waiting[0] !== undefined && waiting[0].since < late) waiting.shift()?.reject(unavailable());
    for (let first = waiting[0]; first !== undefined && running < parallel; first = waiting[0]) {
      running += 1;
      withTimeout(run(waiting.splice(0, maxItems), first.since + BUDGET.call), timeout).then(end, end);
    }
  }

  async function run(batch: readonly Waiting<T, R>[], deadline: number): Promise<void> {
    const items = batch.map(({ item }) => item);
    try {
      const results = await work(items, deadline);
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

  /** Also after the timeout: then the batch still runs, and its items still get their results. */
  function end(): void {
    running -= 1;
    setImmediate(start);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const count = waiting.push({ item, since: performance.now(), resolve, reject });
      if (count === 1) setImmediate(start);
    });
}
