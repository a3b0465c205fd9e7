import { unavailable } from '@animal-store/domain/ports';
import { BUDGET } from './budget.ts';
import { allEnded, type Limits } from './limits.ts';
import { withTimeout } from './resource.ts';

/**
 * Runs a batch of one item or more. Resolves to the result of each item, in their order; an Error rejects its item alone.
 *
 * @param limits The earliest deadline of its calls, and a signal that aborts when all of them have ended.
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
   * The time limit of a batch in milliseconds, after which the next one starts beside it.
   *
   * @default 1_900
   */
  readonly timeout?: number;
}

/** How many batches of each parallel one may have begun and not ended: more would fill the memory if none ends. */
const MAX_UNENDED = 10;

/** In milliseconds: a batch that takes longer counts as ended. A driver without a timeout waits for a dead connection for ever. */
const MAX_TIME = 2 * BUDGET.call;

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
  #signal: AbortSignal | null = null;

  constructor(batch: readonly { readonly limits: Limits }[]) {
    this.deadline = Math.min(...batch.map(({ limits }) => limits.deadline));
    this.#batch = batch;
  }

  get signal(): AbortSignal {
    this.#signal ??= allEnded(this.#batch.map(({ limits }) => limits));
    return this.#signal;
  }
}

/**
 * Combines calls into batches. All calls of one turn of the event loop make one batch; calls that come while `parallel`
 * batches run wait for the next one, in their order. No call joins a batch that began before it: a read sees everything that
 * was acknowledged before it was called, and a write is acknowledged when it is done.
 *
 * @param work If it rejects or has not a result for each item, each of its items rejects.
 * @returns Adds an item of a call to the next batch, and returns its result. Rejects with DomainError `storage_unavailable` if its call has
 * 0.3 seconds left or less when a batch could begin. If none can, it waits: its caller needs a time limit, as `createResource` has.
 * @throws RangeError if `maxItems` or `parallel` is less than 1.
 */
export function createBatches<T, R>(
  work: BatchWork<T, R>,
  { maxItems, parallel = 1, timeout = BUDGET.driver }: BatchOptions,
): (item: T, limits: Limits) => Promise<R> {
  if (!(maxItems >= 1 && parallel >= 1)) throw new RangeError('maxItems and parallel must be 1 or more');
  let waiting: Waiting<T, R>[] = [];
  /** Batches that the next one waits for, and those that have not ended. */
  let running = 0;
  let unended = 0;
  let isScheduled = false;

  /** Starts batches in the next turn. Twice in a turn, each turn would have twice the batches of the one before. */
  function schedule(): void {
    if (isScheduled || running >= parallel || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(start);
  }

  function start(): void {
    isScheduled = false;
    const now = performance.now();
    // A batch has the earliest deadline of its items: a late one would fail the others.
    waiting = waiting.filter(({ limits, reject }) => limits.deadline > now + BUDGET.rest || reject(tooLate()));
    while (running < parallel && unended < parallel * MAX_UNENDED && waiting.length > 0) {
      running += 1;
      unended += 1;
      withTimeout(run(waiting.splice(0, maxItems)), timeout).then(end, end);
    }
  }

  async function run(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const limits = new BatchLimits(batch);
      const results = await withTimeout(work(items, limits), MAX_TIME);
      if (results?.length !== batch.length) throw new TypeError(`the work of a batch has no ${batch.length} results`);
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index] as R | Error;
        if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (failure) {
      for (const { reject } of batch) reject(failure);
    }
    unended -= 1;
    schedule();
  }

  /** Also after the timeout: then the batch still runs, and its items still get their results. */
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
