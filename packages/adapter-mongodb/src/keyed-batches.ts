import { type BatchPolicy, type BatchWork, createBatches } from './batches.ts';

/**
 * Batches for each key apart. A key is remembered only while somebody waits for a result of its batches.
 *
 * @returns Adds an item to the next batch of its key.
 */
export function createKeyedBatches<T, R>(
  keyOf: (item: T) => string,
  work: BatchWork<T, R>,
  policy: BatchPolicy<T>,
): (item: T) => Promise<R> {
  const known = new Map<string, { add: (item: T) => Promise<R>; callers: number }>();
  return async (item) => {
    const key = keyOf(item);
    const batches = known.get(key) ?? { add: createBatches(work, policy), callers: 0 };
    known.set(key, batches);
    batches.callers += 1;
    try {
      return await batches.add(item);
    } finally {
      batches.callers -= 1;
      if (batches.callers === 0) known.delete(key);
    }
  };
}
