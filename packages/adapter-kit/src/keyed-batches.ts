import { type Batches, type BatchPolicy, type BatchWork, createBatches } from './batches.ts';

/** Separate batches for each key. A key takes memory only while a call waits for a result of its batches. */
export function createKeyedBatches<T, R>(
  keyOf: (item: T) => string,
  work: BatchWork<T, R>,
  policy: BatchPolicy<T>,
): Batches<T, R> {
  const keys = new Map<string, { add: Batches<T, R>; callers: number }>();
  return async (item) => {
    const key = keyOf(item);
    const batches = keys.get(key) ?? { add: createBatches(work, policy), callers: 0 };
    keys.set(key, batches);
    batches.callers += 1;
    try {
      return await batches.add(item);
    } finally {
      batches.callers -= 1;
      if (batches.callers === 0) keys.delete(key);
    }
  };
}
