import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BatchOptions, createBatches } from './batches.ts';

/** Lets everything happen that needs no time: the end of a batch, then the begin of the next one. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

type Results = readonly (string | Error)[];

/** A batch that has begun and ends when it is told to. */
interface Batch {
  readonly items: readonly number[];
  /** Gives each item a text with its value. */
  end(resultOf?: (item: number) => string | Error): Promise<void>;
  fail(reason: unknown): Promise<void>;
}

/** Batches in the order in which they began, and calls that add to them. */
function batches(options: Partial<BatchOptions> = {}) {
  const begun: Batch[] = [];
  const add = createBatches<number, string>(
    (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<Results>();
      begun.push({
        items,
        end(resultOf = (item) => `result of ${item}`) {
          resolve(items.map(resultOf));
          return settle();
        },
        fail(reason) {
          reject(reason);
          return settle();
        },
      });
      return promise;
    },
    { maxItems: 100, timeout: 500, ...options },
  );
  /** Calls in one turn of the event loop, and waits for its end. */
  async function call(...given: number[]) {
    const calls = given.map(add);
    for (const started of calls) started.catch(() => {});
    await settle();
    return { calls };
  }
  return { batch: (index: number) => begun[index] as Batch, call, items: () => begun.map((batch) => batch.items) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('createBatches', () => {
  test('combines the calls of one turn of the event loop, and those that come while a batch runs', async () => {
    const { batch, call, items } = batches();
    const first = await call(1, 2);
    const second = await call(3);
    const third = await call(4, 5);
    expect(items()).toEqual([[1, 2]]);
    await batch(0).end();
    expect(items()).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    await batch(1).end();
    expect(await Promise.all([first, second, third].flatMap(({ calls }) => calls))).toEqual(
      [1, 2, 3, 4, 5].map((item) => `result of ${item}`),
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  test('runs as many batches at once as allowed, with as many items as allowed', async () => {
    const { batch, call, items } = batches({ parallel: 2, maxItems: 2 });
    await call(1, 2, 3, 4, 5, 6, 7);
    expect(items()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await batch(1).end();
    expect(items().slice(2)).toEqual([[5, 6]]);
    await batch(0).end();
    expect(items().slice(3)).toEqual([[7]]);
  });

  test('starts the next batch beside one that exceeds its time limit', async () => {
    const { batch, call, items } = batches();
    const { calls } = await call(1);
    await call(2);
    vi.advanceTimersByTime(499);
    await settle();
    expect(items()).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await settle();
    expect(items()).toEqual([[1], [2]]);
    await call(3);
    // The end of a late batch makes no room: the second one has its place.
    await batch(0).end();
    expect(items()).toHaveLength(2);
    expect(await calls[0]).toBe('result of 1');
    await batch(1).end();
    expect(items()).toEqual([[1], [2], [3]]);
  });

  test('rejects an item that has waited longer than 5 seconds, and never runs it', async () => {
    const { batch, call, items } = batches({ maxItems: 1 });
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    await call(1);
    const { calls } = await call(2);
    clock.mockReturnValue(5_001);
    const later = await call(3);
    await batch(0).end();
    await expect(calls[0]).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(items()).toEqual([[1], [3]]);
    await batch(1).end();
    expect(await later.calls[0]).toBe('result of 3');
    clock.mockRestore();
  });

  test('rejects an item whose result is an error, and no other', async () => {
    const { batch, call } = batches();
    const { calls } = await call(1, 2, 3);
    await batch(0).end((item) => (item === 2 ? new Error('no 2') : 'stored'));
    await expect(calls[1]).rejects.toThrow('no 2');
    expect(await Promise.all([calls[0], calls[2]])).toEqual(['stored', 'stored']);
  });

  test('rejects all items of a batch that fails, and no others', async () => {
    const { batch, call } = batches();
    const first = await call(1, 2);
    const second = await call(3);
    await batch(0).fail(new Error('down'));
    await batch(1).end();
    for (const failed of first.calls) await expect(failed).rejects.toThrow('down');
    expect(await second.calls[0]).toBe('result of 3');
  });

  test('continues after work that throws synchronously', async () => {
    const add = createBatches<number, string>(
      () => {
        throw new Error('a defect');
      },
      { maxItems: 1 },
    );
    await expect(add(1)).rejects.toThrow('a defect');
    await expect(add(2)).rejects.toThrow('a defect');
  });
});
