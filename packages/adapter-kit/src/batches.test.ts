import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BatchPolicy, createBatches } from './batches.ts';

const POLICY: BatchPolicy<number> = { parallel: 1, maxItems: 100, maxWaiting: 100, maxWait: 500 };

/** Lets everything happen that needs no more than promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A batch that has begun and ends when it is told to. */
interface Batch {
  readonly items: readonly number[];
  /** Gives each item a text with its value. */
  end(): Promise<void>;
  /** Ends with a result for each item that may throw. */
  endWith(resultOf: (item: number) => string): Promise<void>;
  fail(reason: unknown): Promise<void>;
}

/** Batches in the order in which they began, and calls that add to them. */
function batches(policy: Partial<BatchPolicy<number>> = {}) {
  const begun: Batch[] = [];
  const add = createBatches<number, string>(
    (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<(item: number) => string>();
      const endWith = (resultOf: (item: number) => string) => {
        resolve(resultOf);
        return settle() as Promise<void>;
      };
      const fail = (reason: unknown) => {
        reject(reason);
        return settle() as Promise<void>;
      };
      begun.push({ items, endWith, fail, end: () => endWith((item) => `result of ${item}`) });
      return promise;
    },
    { ...POLICY, ...policy },
  );
  const items = () => begun.map((batch) => batch.items);
  /** Calls whose results are awaited later. */
  const call = (...given: number[]) => {
    const calls = given.map(add);
    for (const started of calls) started.catch(() => {});
    return calls;
  };
  const batch = (index: number) => begun[index] as Batch;
  return { add, batch, begun, call, items };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('batches', () => {
  test('start a lone call at once, and return its result', async () => {
    const { call, items, batch } = batches();
    const [one] = call(1);
    expect(items()).toEqual([[1]]);
    await batch(0).end();
    expect(await one).toBe('result of 1');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('have all calls of one turn of the event loop, once calls have come together', async () => {
    const { call, items, batch } = batches({ parallel: 2, maxItems: 2 });
    call(1, 2, 3, 4);
    for (const index of [0, 1, 2]) await batch(index).end();
    call(5, 6, 7);
    expect(items()).toEqual([[1], [2], [3, 4]]);
    await settle();
    expect(items().slice(3)).toEqual([[5, 6], [7]]);
    for (const index of [3, 4]) await batch(index).end();
    call(8);
    expect(items().slice(5)).toEqual([[8]]);
  });

  test('combine the calls that come while one is in flight, in their order', async () => {
    const { call, items, batch } = batches();
    const calls = call(1, 2, 3, 4);
    await settle();
    expect(items()).toEqual([[1]]);
    await batch(0).end();
    expect(items()).toEqual([[1], [2, 3, 4]]);
    calls.push(...call(5));
    await batch(1).end();
    expect(items()).toEqual([[1], [2, 3, 4], [5]]);
    await batch(2).end();
    expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5].map((item) => `result of ${item}`));
  });

  test('run as many at once as allowed, and start the next one as soon as one has ended', async () => {
    const { call, items, batch } = batches({ parallel: 3 });
    call(1, 2, 3, 4, 5);
    expect(items()).toEqual([[1], [2], [3]]);
    await batch(1).end();
    expect(items()).toEqual([[1], [2], [3], [4, 5]]);
    call(6);
    expect(items()).toHaveLength(4);
    await batch(0).end();
    expect(items().at(-1)).toEqual([6]);
  });

  test('exceed neither their number of items nor their weight, except for one item that is too heavy by itself', async () => {
    const { call, items, batch } = batches({ maxItems: 3, maxWeight: 10, weigh: (item) => item });
    call(1, 2, 2, 2, 2, 8, 5, 5, 1, 50, 9);
    for (let index = 0; index < 7; index += 1) await batch(index).end();
    expect(items()).toEqual([[1], [2, 2, 2], [2, 8], [5, 5], [1], [50], [9]]);
  });

  test('reject one call more than may wait, until another has ended', async () => {
    const { call, batch } = batches({ maxWaiting: 2 });
    const calls = call(1, 2, 3, 4);
    await expect(calls[3]).rejects.toMatchObject({ name: 'DomainError', code: 'storage_unavailable' });
    await batch(0).end();
    const later = call(5, 6);
    await batch(1).end();
    await batch(2).end();
    expect(await Promise.all([...calls.slice(0, 3), ...later])).toHaveLength(5);
  });

  test('let no call wait if none may', async () => {
    const { call, batch } = batches({ maxWaiting: 0 });
    const calls = call(1, 2);
    await expect(calls[1]).rejects.toMatchObject({ code: 'storage_unavailable' });
    await batch(0).end();
    expect(await calls[0]).toBe('result of 1');
  });

  test('start the next one beside one that takes too long', async () => {
    const { call, items, batch } = batches();
    const calls = call(1, 2, 3);
    vi.advanceTimersByTime(499);
    expect(items()).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    expect(items()).toEqual([[1], [2, 3]]);
    calls.push(...call(4));
    // The next one has its place already.
    await batch(0).end();
    expect(items()).toHaveLength(2);
    await batch(1).end();
    expect(items()).toEqual([[1], [2, 3], [4]]);
    await batch(2).end();
    expect(await Promise.all(calls)).toHaveLength(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('reject one item with its error, and no other', async () => {
    const { call, batch } = batches();
    const calls = call(0, 1, 2, 3);
    await batch(0).end();
    await batch(1).endWith((item) => {
      if (item === 2) throw new Error('no 2');
      return 'stored';
    });
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    await expect(calls[2]).rejects.toThrow('no 2');
  });

  test('reject an item that cannot be weighed, and no other', async () => {
    const { add, call, items, batch } = batches({
      maxWeight: 10,
      weigh: (item) => {
        if (item === 3) throw new RangeError('no weight');
        return 1;
      },
    });
    const calls = call(1, 2, 3, 4);
    await expect(calls[2]).rejects.toThrow(new RangeError('no weight'));
    await batch(0).end();
    await batch(1).end();
    expect(items()).toEqual([[1], [2, 4]]);
    await expect(Promise.all([calls[0], calls[1], calls[3]])).resolves.toEqual(
      [1, 2, 4].map((item) => `result of ${item}`),
    );
    const next = add(5);
    await settle();
    await batch(2).end();
    await expect(next).resolves.toBe('result of 5');
  });

  test('reject all items of a failed one, and no others', async () => {
    const { call, batch } = batches();
    const calls = call(1, 2, 3);
    await batch(0).end();
    calls.push(...call(4));
    await batch(1).fail(new Error('down'));
    await batch(2).end();
    const ends = await Promise.allSettled(calls);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    await expect(calls[1]).rejects.toThrow('down');
  });

  test('continue after work that throws synchronously', async () => {
    const add = createBatches<number, string>(() => {
      throw new Error('a defect');
    }, POLICY);
    await expect(add(1)).rejects.toThrow('a defect');
    await expect(add(2)).rejects.toThrow('a defect');
  });
});
