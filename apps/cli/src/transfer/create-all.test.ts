import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAll } from './create-all.ts';
import type { TransferEvents } from './read-pets.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function* lines(count: number) {
  for (let line = 1; line <= count; line += 1000) {
    yield Array.from({ length: Math.min(1000, count - line + 1) }, (_, index) => ({
      line: line + index,
      lastLine: line + index,
      pet: { name: `Rex ${line + index}`, categoryId: 1n },
      error: null,
    }));
  }
}

type Add = Parameters<typeof createAwaitableCatalogue>[0]['add'];

function creating(add: Add, count: number, onRejected: TransferEvents['onRejected'] = () => true) {
  const catalogue = createAwaitableCatalogue({ add, find: () => null, list: () => [] });
  const onDone = vi.fn();
  const keyOf = (line: number) => ({ holder: ' test ', key: String(line) });
  const stop = new AbortController();
  const ended = createAll(lines(count), { catalogue, keyOf, signal: stop.signal }, { onDone, onRejected });
  return { onDone, ended, stop };
}

/** A storage that takes 10 ms for a creation, and counts those in flight. */
function slowStorage() {
  let [inFlight, most] = [0, 0];
  const add: Add = async (newPet) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await new Promise((resolve) => setTimeout(resolve, 10));
    inFlight -= 1;
    return { pet: { id: 1n, ...newPet }, created: true };
  };
  return { add, most: () => most };
}

const unavailable = (cause?: unknown) => new DomainError('storage_unavailable', 'try again', { cause });

describe('createAll', () => {
  test('keeps a bounded number of creations in flight, and finishes all', async () => {
    const { add, most } = slowStorage();
    const { onDone, ended } = creating(add, 9_000);
    await vi.runAllTimersAsync();
    await ended;
    expect(onDone).toHaveBeenCalledTimes(9_000);
    expect(most()).toBe(4_000);
  });

  test('repeats a creation with its key while the storage is unavailable', async () => {
    const keys: unknown[] = [];
    const { onDone, ended } = creating((newPet, create) => {
      keys.push(create?.key);
      if (keys.length <= 3) throw unavailable();
      return { pet: { id: 1n, ...newPet }, created: true };
    }, 1);
    await vi.runAllTimersAsync();
    await ended;
    expect(onDone).toHaveBeenCalledTimes(1);
    expect(keys).toEqual(['1', '1', '1', '1']);
  });

  test('keeps fewer creations in flight after the storage was unavailable', async () => {
    const { add, most } = slowStorage();
    let calls = 0;
    const { onDone, ended } = creating(async (newPet, create) => {
      calls += 1;
      if (calls === 1) throw unavailable();
      return add(newPet, create);
    }, 9_000);
    await vi.runAllTimersAsync();
    await ended;
    expect(onDone).toHaveBeenCalledTimes(9_000);
    expect(most()).toBeLessThan(3_000);
  });

  test('rejects with the error of the storage if it was unavailable for half a minute', async () => {
    const start = performance.now();
    const { ended } = creating(() => {
      throw unavailable();
    }, 50);
    const rejection = expect(ended).rejects.toThrow('try again');
    await vi.runAllTimersAsync();
    await rejection;
    expect(performance.now() - start).toBeGreaterThan(29_000);
    expect(performance.now() - start).toBeLessThan(40_000);
  });

  test.each([unavailable(new StorageMisconfigured('the file is damaged')), new Error('a defect')])(
    'does not repeat a creation after an error that waiting cannot resolve: %s',
    async (error) => {
      const keys: unknown[] = [];
      const { ended } = creating((_, create) => {
        keys.push(create?.key);
        throw error;
      }, 3_000);
      const rejection = expect(ended).rejects.toBe(error);
      await vi.runAllTimersAsync();
      await rejection;
      expect(keys).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index + 1)));
    },
  );

  test.each([
    ['begins no further creation', async () => {}],
    [
      'does not repeat a creation',
      async () => {
        throw unavailable();
      },
    ],
  ])('%s after it was aborted, and settles at once', async (_, settle) => {
    let calls = 0;
    const { ended, stop } = creating(async (newPet) => {
      calls += 1;
      if (calls === 10) stop.abort();
      await settle();
      return { pet: { id: 1n, ...newPet }, created: true };
    }, 3_000);
    await ended.catch((error) => expect(error).toBeInstanceOf(DomainError));
    expect(calls).toBe(10);
  });

  test('stops on request, and waits for creations in flight', async () => {
    let settled = 0;
    const { onDone, ended } = creating(
      async (newPet, create) => {
        if (create?.key === '7') return null;
        await new Promise((resolve) => setTimeout(resolve, 10));
        settled += 1;
        return { pet: { id: 1n, ...newPet }, created: true };
      },
      20_000,
      () => false,
    );
    let endedWith: number | null = null;
    void ended.then(() => (endedWith = settled));
    await vi.runAllTimersAsync();
    await ended;
    expect(onDone).toHaveBeenCalledTimes(settled);
    expect(endedWith).toBe(settled);
    expect(settled).toBeGreaterThan(0);
    expect(settled).toBeLessThan(5_000);
  });

  test('waits for creations in flight if the file cannot be read on', async () => {
    let settled = 0;
    const catalogue = createAwaitableCatalogue({
      async add(newPet) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        settled += 1;
        return { pet: { id: 1n, ...newPet }, created: true };
      },
      find: () => null,
      list: () => [],
    });
    async function* broken() {
      yield* lines(2_000);
      throw new Error('the file became shorter');
    }
    const events = { onDone() {}, onRejected: () => true };
    const ended = createAll(
      broken(),
      {
        catalogue,
        keyOf: (line) => ({ holder: ' test ', key: String(line) }),
        signal: new AbortController().signal,
      },
      events,
    );
    const settledAtTheEnd = ended.catch((error: Error) => [error.message, settled]);
    await vi.runAllTimersAsync();
    expect(await settledAtTheEnd).toEqual(['the file became shorter', 2_000]);
  });
});
