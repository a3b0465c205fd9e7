import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { BatchPolicy } from './batches.ts';
import { createKeyedBatches } from './keyed-batches.ts';

const POLICY: BatchPolicy<unknown> = { parallel: 1, maxItems: 100, maxWaiting: 100, maxWait: 60_000 };

/** Lets everything happen that needs no more than promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

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
      POLICY,
    );
  }

  test('combine calls of the same key only', async () => {
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

  test('store a key while a call waits, also when others of it have their results', async () => {
    const add = keyed();
    const calls = ['a1', 'a2'].map(add);
    ends[0]?.();
    await settle();
    expect(await calls[0]).toBe('result of a1');
    add('a3');
    expect(begun).toEqual([['a1'], ['a2']]);
  });

  test('store no key without waiting calls', async () => {
    const keys = new Set<string>();
    const add = createKeyedBatches<object, null>(
      () => {
        const key = crypto.randomUUID();
        keys.add(key);
        return key;
      },
      async () => () => null,
      POLICY,
    );
    const forgotten = vi.spyOn(Map.prototype, 'delete');
    onTestFinished(() => forgotten.mockRestore());
    await Promise.all(Array.from({ length: 50 }, () => add({})));
    for (const [key] of forgotten.mock.calls) keys.delete(key as string);
    expect(keys.size).toBe(0);
  });
});
