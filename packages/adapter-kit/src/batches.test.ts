import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BatchOptions, createBatches } from './batches.ts';
import { BUDGET } from './budget.ts';
import { type Limits, Work } from './limits.ts';

const MAX_WAIT = 50;
const DOWN = new TypeError('down');
const never = () => new Promise<never>(() => {});
const ENDLESS = new Work(Number.POSITIVE_INFINITY);
const TOO_LATE = 'no batch could begin 300 ms before the deadline';

const reasonOf = ({ message, cause }: Error) => (cause as Error | undefined)?.message ?? message;

const fail = () => {
  throw DOWN;
};

/** Lets everything happen that needs no time: the end of a batch, then the begin of the next one. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const nextTick = () => new Promise((resolve) => process.nextTick(resolve));

/** A batch that has begun and ends when it is told to: with the result of each item, or with a failure. */
interface Batch {
  readonly items: readonly number[];
  readonly begunAt: number;
  end(resultOf: (item: number) => unknown): Promise<void>;
}

/** Calls with numbers, and the batches that have begun, in their order. */
function batches(options: Partial<BatchOptions> = {}) {
  const begun: Batch[] = [];
  const add = createBatches<number, unknown>(
    async (items) => {
      const { promise, resolve } = Promise.withResolvers<(item: number) => unknown>();
      const end: Batch['end'] = (resultOf) => {
        resolve(resultOf);
        return settle();
      };
      begun.push({ items, begunAt: performance.now(), end });
      return items.map(await promise);
    },
    { maxItems: 100, maxWait: MAX_WAIT, ...options },
  );
  /** Calls in ticks of one turn of the event loop, and waits for its end. Each call ends with its result, or with a message. */
  async function call(...items: number[]): Promise<Promise<unknown>[]> {
    const calls: Promise<unknown>[] = [];
    for (const item of items) {
      calls.push(add(item, new Work(performance.now() + BUDGET.call)).catch(reasonOf));
      await nextTick();
    }
    await settle();
    return calls;
  }
  return { begun, call, items: () => begun.map((batch) => batch.items) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('createBatches', () => {
  test('combines calls, and gives each the result of a batch that began after it, at once if there is room', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ calls: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 4, arbitrary: fc.record({ ends: fc.nat(20), isOk: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ ms: fc.integer({ min: 1, max: 80 }) }) },
    );
    const limits = fc.record({ parallel: fc.integer({ min: 1, max: 4 }), maxItems: fc.integer({ min: 1, max: 5 }) });
    const resultOf = (item: number) => (item % 5 === 4 ? new Error(`no ${item}`) : item);
    const check = fc.asyncProperty(fc.array(step, { maxLength: 60 }), limits, async (steps, { parallel, maxItems }) => {
      const { begun, call } = batches({ parallel, maxItems });
      const calls: Promise<unknown>[] = [];
      const ended = new Set<Batch>();
      const running = () => begun.filter((batch) => !ended.has(batch));
      async function end(batch: Batch | undefined, isOk: boolean): Promise<void> {
        if (batch === undefined) return;
        ended.add(batch);
        await batch.end(isOk ? resultOf : fail);
      }
      for (const step of steps) {
        const before = begun.length;
        if ('calls' in step) {
          calls.push(...(await call(...Array.from({ length: step.calls }, (_, index) => calls.length + index))));
        } else if ('ends' in step) {
          await end(running()[step.ends % running().length], step.isOk);
        } else {
          vi.advanceTimersByTime(step.ms);
          await settle();
        }
        for (const { items } of begun.slice(before, -1)) expect(items).toHaveLength(maxItems);
        const waitedFor = running().filter(({ begunAt }) => performance.now() - begunAt < MAX_WAIT);
        const started = begun.flatMap(({ items }) => items);
        expect(started).toEqual(started.map((_, index) => index));
        expect(waitedFor.length).toBeLessThanOrEqual(parallel);
        if (started.length < calls.length) expect(waitedFor).toHaveLength(parallel);
        for (const { items } of begun) expect(items.length).toBeLessThanOrEqual(maxItems);
      }
      while (running().length > 0) await end(running()[0], true);
      for (const [item, call] of calls.entries()) {
        expect([item % 5 === 4 ? `no ${item}` : item, 'down']).toContain(await call);
      }
      expect(vi.getTimerCount()).toBe(0);
    });
    await fc.assert(check, { numRuns: 300 });
  });

  test('adds a call that follows a result to the next batch', async () => {
    const { begun, call, items } = batches();
    const [first] = await call(1, 2);
    first?.then(nextTick).then(() => call(4));
    await call(3);
    await begun[0]?.end((item) => item);
    expect(items()).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('rejects an item that has waited longer than 2.2 seconds, and never runs it', async () => {
    const { begun, call, items } = batches({ maxItems: 1, maxWait: 10_000 });
    const [, late] = await call(1, 2);
    vi.advanceTimersByTime(2_201);
    const [later] = await call(3);
    await begun[0]?.end((item) => item);
    expect(await late).toBe(TOO_LATE);
    await begun[1]?.end((item) => item);
    expect(await later).toBe(3);
    expect(items()).toEqual([[1], [3]]);
  });

  test('tells the work the earliest deadline of its calls, and rejects calls with 300 ms left or less', async () => {
    const work = vi.fn(async (items: readonly string[], _: Limits) => items);
    const add = createBatches(work, { maxItems: 4 });
    const now = performance.now();
    const ends = [600, 300, 500, 400].map((left) => add(`${left}`, new Work(now + left)).catch(reasonOf));
    expect(await Promise.all(ends)).toEqual(['600', TOO_LATE, '500', '400']);
    expect(work.mock.calls).toEqual([[['600', '500', '400'], { deadline: now + 400 }]]);
  });

  test('begins no item of a call that has ended, and tells the work when all calls of its batch have', async () => {
    const begun: { items: readonly number[]; limits: Limits }[] = [];
    const add = createBatches<number, never>(
      (items, limits) => {
        begun.push({ items, limits });
        return never();
      },
      { maxItems: 2 },
    );
    const calls = [1, 2, 3, 4].map(() => new Work(performance.now() + 2 * BUDGET.call));
    const ends = calls.map((call, index) => add(index + 1, call).catch(reasonOf));
    await settle();
    const [first, second, third] = calls;
    first?.end();
    expect(begun[0]?.limits.hasEnded).toBe(false);
    second?.end();
    expect(begun[0]?.limits.hasEnded).toBe(true);
    third?.end();
    vi.advanceTimersByTime(BUDGET.call);
    await settle();
    expect(begun.map(({ items }) => items)).toEqual([[1, 2], [4]]);
    expect(await ends[2]).toBe(TOO_LATE);
  });

  test('serves a caller who reads page after page once in a turn of the event loop, so that other work goes on', async () => {
    const read = createBatches<number, number>(async (pages) => pages, { maxItems: 100 });
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    for (let page = 0; page < 50; page += 1) expect(await read(page, ENDLESS)).toBe(page);
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(49);
  });

  test('begins the next batch before results that callers hold back until the next turn are delivered', async () => {
    const order: string[] = [];
    const add = createBatches<number, number>(
      async (items) => {
        order.push(`batch ${items}`);
        return items;
      },
      { maxItems: 100 },
    );
    // A request of the next turn.
    setImmediate(() => setImmediate(() => add(2, ENDLESS)));
    await add(1, ENDLESS);
    for (let microtasks = 0; microtasks < 20; microtasks += 1) await null;
    await new Promise((resolve) => setImmediate(resolve));
    order.push('delivered');
    await settle();
    expect(order).toEqual(['batch 1', 'batch 2', 'delivered']);
  });

  const fewResults = new TypeError('the work of a batch has no 2 results');
  test.each<[() => unknown, Error]>([
    [fail, new TypeError('down')],
    [async () => undefined, fewResults],
    [async () => ['one'], fewResults],
    [async () => ['one', 'two', 'three'], fewResults],
  ])('rejects each item of the work %s for two, and continues', async (work, reason) => {
    const add = createBatches<number, string>(work as never, { maxItems: 2 });
    const failure = { status: 'rejected', reason };
    for (let round = 0; round < 2; round += 1) {
      const calls = [1, 2].map((item) => add(item, ENDLESS));
      expect(await Promise.allSettled(calls)).toEqual([failure, failure]);
    }
  });

  test.each([{ maxItems: 0 }, { maxItems: Number.NaN }, { maxItems: 1, parallel: 0 }])(
    'rejects the options %j',
    (options) => {
      const error = new RangeError('maxItems and parallel must be 1 or more');
      expect(() => createBatches(async () => [], options)).toThrow(error);
    },
  );
});
