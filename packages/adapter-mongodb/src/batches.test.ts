import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type BatchPolicy, createBatches, createKeyedBatches } from './batches.ts';

const POLICY: BatchPolicy<number> = { parallel: 1, maxItems: 100, maxWaiting: 100, patience: 500 };

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
  /** Calls whose ends are looked at later. */
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
  test('a lone call goes out at once, and gets its result', async () => {
    const { call, items, batch } = batches();
    const [one] = call(1);
    expect(items()).toEqual([[1]]);
    await batch(0).end();
    expect(await one).toBe('result of 1');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('those that come while one is under way go together in their order once it has ended', async () => {
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

  test('as many as may be are under way at once, and a free place is taken at once', async () => {
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

  test('no batch has more items than it may, nor weighs more, but for one item that weighs too much by itself', async () => {
    const { call, items, batch } = batches({ maxItems: 3, maxWeight: 10, weigh: (item) => item });
    call(1, 2, 2, 2, 5, 5, 1, 50, 9);
    for (let index = 0; index < 6; index += 1) await batch(index).end();
    expect(items()).toEqual([[1], [2, 2, 2], [5, 5], [1], [50], [9]]);
  });

  test('one more than may wait is refused, until there is room again', async () => {
    const { call, batch } = batches({ maxWaiting: 2 });
    const calls = call(1, 2, 3, 4);
    await expect(calls[3]).rejects.toMatchObject({ name: 'DomainError', code: 'service_unavailable' });
    await batch(0).end();
    const later = call(5, 6);
    await batch(1).end();
    await batch(2).end();
    expect(await Promise.all([...calls.slice(0, 3), ...later])).toHaveLength(5);
  });

  test('nobody need wait where nobody may', async () => {
    const { call, batch } = batches({ maxWaiting: 0 });
    const calls = call(1, 2);
    await expect(calls[1]).rejects.toMatchObject({ code: 'service_unavailable' });
    await batch(0).end();
    expect(await calls[0]).toBe('result of 1');
  });

  test('one that takes too long goes on, and the next goes beside it', async () => {
    const { call, items, batch } = batches();
    const calls = call(1, 2, 3);
    vi.advanceTimersByTime(499);
    expect(items()).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    expect(items()).toEqual([[1], [2, 3]]);
    calls.push(...call(4));
    // Its place has been taken already.
    await batch(0).end();
    expect(items()).toHaveLength(2);
    await batch(1).end();
    expect(items()).toEqual([[1], [2, 3], [4]]);
    await batch(2).end();
    expect(await Promise.all(calls)).toHaveLength(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('what fails with one item is that item alone', async () => {
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

  test('what fails as a whole fails its items, and nobody else', async () => {
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

  test('work that throws at once holds nobody up', async () => {
    const add = createBatches<number, string>(() => {
      throw new Error('a defect');
    }, POLICY);
    await expect(add(1)).rejects.toThrow('a defect');
    await expect(add(2)).rejects.toThrow('a defect');
  });

  test('whatever comes when: each call gets an answer from after it came, in bounds', async () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask'), weight: fc.integer({ min: 0, max: 6 }) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('change') }) },
        { weight: 3, arbitrary: fc.record({ kind: fc.constant('end'), which: fc.nat(20), ok: fc.boolean() }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('time'), passes: fc.integer({ min: 1, max: 600 }) }) },
      ),
      { maxLength: 60 },
    );
    const limits = fc.record({
      parallel: fc.integer({ min: 1, max: 4 }),
      maxItems: fc.integer({ min: 1, max: 5 }),
      maxWeight: fc.integer({ min: 1, max: 12 }),
      maxWaiting: fc.nat(12),
    });
    await fc.assert(
      fc.asyncProperty(steps, limits, async (given, bounds) => {
        // What is stored is a number that grows; a batch sees the number of when it began.
        let stored = 0;
        const open: { end(ok: boolean): void; begunAt: number }[] = [];
        let now = 0;
        const add = createBatches<{ weight: number }, number>(
          (items) => {
            const seen = stored;
            const waitedFor = open.filter(({ begunAt }) => now - begunAt < POLICY.patience);
            expect(waitedFor.length).toBeLessThan(bounds.parallel);
            expect(items.length).toBeLessThanOrEqual(bounds.maxItems);
            const weight = items.reduce((sum, item) => sum + item.weight, 0);
            if (items.length > 1) expect(weight).toBeLessThanOrEqual(bounds.maxWeight);
            const { promise, resolve, reject } = Promise.withResolvers<() => number>();
            const batch = {
              begunAt: now,
              end: (ok: boolean) => (ok ? resolve(() => seen) : reject(new Error('down'))),
            };
            open.push(batch);
            return promise.finally(() => open.splice(open.indexOf(batch), 1));
          },
          { ...bounds, patience: POLICY.patience, weigh: ({ weight }) => weight },
        );
        const calls: Promise<string>[] = [];
        for (const step of given as { kind: string; weight: number; which: number; ok: boolean; passes: number }[]) {
          if (step.kind === 'ask') {
            const atLeast = stored;
            const told = (seen: number) => (seen >= atLeast ? 'fresh' : `stale: ${seen} after ${atLeast}`);
            calls.push(add({ weight: step.weight }).then(told, (reason: Error) => reason.name));
          } else if (step.kind === 'change') {
            stored += 1;
          } else if (step.kind === 'time') {
            now += step.passes;
            vi.advanceTimersByTime(step.passes);
          } else {
            open[step.which % open.length]?.end(step.ok);
          }
          await settle();
        }
        // Nobody is forgotten.
        while (open.length > 0) {
          open[0]?.end(true);
          await settle();
        }
        for (const end of await Promise.all(calls)) expect(['fresh', 'Error', 'DomainError']).toContain(end);
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('batches by key', () => {
  const ends: (() => void)[] = [];
  const begun: string[][] = [];
  function keyed() {
    onTestFinished(() => {
      ends.length = 0;
      begun.length = 0;
    });
    return createKeyedBatches<string, string>(
      (item) => item.slice(0, 1),
      (items) => {
        begun.push([...items]);
        return new Promise((resolve) => ends.push(() => resolve((item) => `result of ${item}`)));
      },
      POLICY as BatchPolicy<unknown>,
    );
  }

  test('only those of one key wait for each other and go together', async () => {
    const add = keyed();
    const calls = ['a1', 'b1', 'a2', 'a3', 'b2'].map(add);
    expect(begun).toEqual([['a1'], ['b1']]);
    ends[1]?.();
    await settle();
    expect(begun).toEqual([['a1'], ['b1'], ['b2']]);
    ends[0]?.();
    await settle();
    expect(begun).toEqual([['a1'], ['b1'], ['b2'], ['a2', 'a3']]);
    for (const end of ends) end();
    expect(await Promise.all(calls)).toEqual(['a1', 'b1', 'a2', 'a3', 'b2'].map((item) => `result of ${item}`));
  });

  test('a key is not forgotten while somebody waits, also when others of it have their results', async () => {
    const add = keyed();
    const calls = ['a1', 'a2'].map(add);
    ends[0]?.();
    await settle();
    expect(await calls[0]).toBe('result of a1');
    add('a3');
    expect(begun).toEqual([['a1'], ['a2']]);
  });

  test('keys that nobody waits for take no memory', async () => {
    const keys = new Set<string>();
    const add = createKeyedBatches<object, null>(
      () => {
        const key = crypto.randomUUID();
        keys.add(key);
        return key;
      },
      async () => () => null,
      POLICY as BatchPolicy<unknown>,
    );
    const forgotten = vi.spyOn(Map.prototype, 'delete');
    onTestFinished(() => forgotten.mockRestore());
    await Promise.all(Array.from({ length: 50 }, () => add({})));
    for (const [key] of forgotten.mock.calls) keys.delete(key as string);
    expect(keys.size).toBe(0);
  });
});
