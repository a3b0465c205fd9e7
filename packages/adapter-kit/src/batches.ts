import { overloaded } from '@animal-store/domain/ports';

/** Options of batches. */
export interface BatchPolicy<T> {
  /** How many batches may be in flight before calls have to wait: 1 or more. */
  readonly parallel: number;
  /** How many items a batch has at most: 1 or more. */
  readonly maxItems: number;
  /** The greatest total weight of a batch; an item that weighs more makes a batch of its own. Absent: no limit. */
  readonly maxWeight?: number;
  /** The weight of an item: 0 or more. What it throws is the error of this item alone. Absent: 0. */
  weigh?(item: T): number;
  /** How many calls may wait; further ones are rejected. 0 or more. Absent: 10,000. */
  readonly maxWaiting?: number;
  /** How long the next batch waits for this one, in milliseconds; then it starts beside it. */
  readonly maxWait: number;
}

/**
 * The work of a batch on one item or more, in the order in which they came. It must come to an end. The function that it
 * resolves to returns each item's result, or throws the item's own error; a rejection is that of every item.
 */
export type BatchWork<T, R> = (items: readonly T[]) => Promise<(item: T, index: number) => R>;

/** Adds an item to the next batch. Rejects with DomainError `storage_unavailable` if too many are waiting. */
export type Batches<T, R> = (item: T) => Promise<R>;

/** No burst has more calls, and more could not be served before their timeout. */
const MAX_WAITING = 10_000;

interface Waiting<T, R> {
  readonly item: T;
  readonly weight: number;
  resolve(result: R): void;
  reject(reason: unknown): void;
}

/**
 * Combines calls into batches: a call starts a batch if one more may be in flight; otherwise it waits, and the next
 * batch takes all waiting calls. A batch starts at once, or, if calls have come together before, when all calls of this
 * turn of the event loop are in it. No call ever joins a batch that began before it, so a read
 * sees everything that was acknowledged before it was called, and a write is acknowledged when it is done.
 */
export function createBatches<T, R>(work: BatchWork<T, R>, policy: BatchPolicy<T>): Batches<T, R> {
  const {
    parallel,
    maxItems,
    maxWeight = Number.POSITIVE_INFINITY,
    weigh = () => 0,
    maxWaiting = MAX_WAITING,
    maxWait,
  } = policy;
  let waiting: Waiting<T, R>[] = [];
  let inFlight = 0;
  /** How many items the last batch had. */
  let lastSize = 1;
  let isScheduled = false;

  function nextBatch(): Waiting<T, R>[] {
    let size = 0;
    for (let weight = 0; size < maxItems && size < waiting.length; size += 1) {
      weight += (waiting[size] as Waiting<T, R>).weight;
      if (weight > maxWeight && size > 0) break;
    }
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return batch;
  }

  function start(): void {
    const batch = nextBatch();
    lastSize = batch.length;
    inFlight += 1;
    let holdsSlot = true;
    const releaseSlot = () => {
      if (!holdsSlot) return;
      holdsSlot = false;
      clearTimeout(timer);
      inFlight -= 1;
      if (waiting.length > 0) start();
    };
    const timer = setTimeout(releaseSlot, maxWait);
    finish(work, batch).then(releaseSlot);
  }

  /** The calls of requests that arrived together make one batch, instead of one of the first call and one of the others. */
  function startSoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (inFlight < parallel && waiting.length > 0) start();
    });
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (inFlight === parallel && waiting.length >= maxWaiting) {
        reject(overloaded());
        return;
      }
      waiting.push({ item, weight: weigh(item), resolve, reject });
      if (inFlight === parallel) return;
      if (lastSize === 1) start();
      else startSoon();
    });
}

/** Never rejects: each item gets its own result or error. */
async function finish<T, R>(work: BatchWork<T, R>, batch: readonly Waiting<T, R>[]): Promise<void> {
  try {
    const resultOf = await work(batch.map(({ item }) => item));
    for (const [index, { item, resolve, reject }] of batch.entries()) {
      try {
        resolve(resultOf(item, index));
      } catch (reason) {
        reject(reason);
      }
    }
  } catch (reason) {
    for (const { reject } of batch) reject(reason);
  }
}
