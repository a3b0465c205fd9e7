import { DomainError } from '@animal-store/domain';

/** How calls are gathered into batches. */
export interface BatchPolicy<T> {
  /** How many batches may be under way before those who call have to wait: 1 or more. */
  readonly parallel: number;
  /** How many items a batch has at most: 1 or more. */
  readonly maxItems: number;
  /** How much the items of a batch weigh together at most; one that weighs more by itself makes a batch of its own. */
  readonly maxWeight?: number;
  /** What an item weighs: 0 or more, and the same whenever it is asked. Absent: 0. */
  weigh?(item: T): number;
  /** How many calls may wait; the next are refused. 0 or more. */
  readonly maxWaiting: number;
  /** For how long a batch keeps the next one waiting, in milliseconds. One that takes longer goes on beside it. */
  readonly patience: number;
}

/**
 * The work of a batch on one item or more, in the order in which they came. It must come to an end. What it resolves to
 * gives each item its result, or throws what that item alone failed with; a rejection is that of every item.
 */
export type BatchWork<T, R> = (items: readonly T[]) => Promise<(item: T, index: number) => R>;

/** How many may wait for batches of one kind: more than that is no burst, but more than can be done in time. */
export const MAX_WAITING = 10_000;

interface Waiting<T, R> {
  readonly item: T;
  resolve(result: R): void;
  reject(reason: unknown): void;
}

/**
 * Does for many at once what each would do alone: a call goes out at once while there is room, else it waits and goes out
 * with all that have come meanwhile. No call ever joins a batch that began before it came, so a read sees everything that
 * was acknowledged before it was asked for, and a write is acknowledged when it is made.
 *
 * @returns Adds an item to the next batch. Rejects with DomainError `storage_unavailable` where too many are waiting.
 */
export function createBatches<T, R>(work: BatchWork<T, R>, policy: BatchPolicy<T>): (item: T) => Promise<R> {
  const { parallel, maxItems, maxWeight = Number.POSITIVE_INFINITY, weigh = () => 0, maxWaiting, patience } = policy;
  let waiting: Waiting<T, R>[] = [];
  let underWay = 0;

  function nextBatch(): Waiting<T, R>[] {
    let size = 0;
    for (let weight = 0; size < maxItems && size < waiting.length; size += 1) {
      weight += weigh((waiting[size] as Waiting<T, R>).item);
      if (weight > maxWeight && size > 0) break;
    }
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return batch;
  }

  function start(): void {
    const batch = nextBatch();
    underWay += 1;
    let isWaitedFor = true;
    const makeRoom = () => {
      if (!isWaitedFor) return;
      isWaitedFor = false;
      clearTimeout(timer);
      underWay -= 1;
      if (waiting.length > 0) start();
    };
    const timer = setTimeout(makeRoom, patience);
    finish(work, batch).finally(makeRoom);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (underWay === parallel && waiting.length >= maxWaiting) {
        reject(new DomainError('storage_unavailable', 'the storage has too much to do: try again'));
        return;
      }
      waiting.push({ item, resolve, reject });
      if (underWay < parallel) start();
    });
}

/** Never rejects: each item gets what is its own. */
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
