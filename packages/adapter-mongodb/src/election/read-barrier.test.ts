import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PrimaryTerm } from './primary.ts';
import { createReadBarrier } from './read-barrier.ts';

// tools/explorer shows that no read misses an acknowledged write, in random orders of elections, confirmations and reads.

const termOf = (address: string): PrimaryTerm => ({ address, electionId: address });

/** A barrier over a primary that tests change, and what it did. */
function barrierOn(primary: PrimaryTerm | null) {
  const steps: string[] = [];
  const state = { primary, steps, confirm: async () => {} };
  const barrier = createReadBarrier(
    () => state.primary,
    () => {
      steps.push(`confirm ${state.primary?.address}`);
      return state.confirm();
    },
  );
  const read = (during = () => {}) =>
    barrier(async () => {
      const address = state.primary?.address;
      steps.push(`read ${address}`);
      await Promise.resolve();
      during();
      return address;
    });
  return Object.assign(state, { read });
}

describe('createReadBarrier', () => {
  test('confirms a primary once for reads that wait for it together, and for later ones', async () => {
    const { read, steps } = barrierOn(termOf('a'));
    await Promise.all([read(), read(), read()]);
    expect(await read()).toBe('a');
    expect(steps).toEqual(['confirm a', 'read a', 'read a', 'read a', 'read a']);
  });

  test('fails a read whose primary cannot be confirmed, and tries again for the next one', async () => {
    const state = barrierOn(termOf('a'));
    state.confirm = () => Promise.reject(new Error('no majority'));
    await expect(state.read()).rejects.toThrow('no majority');
    state.confirm = async () => {};
    expect(await state.read()).toBe('a');
    expect(state.steps).toEqual(['confirm a', 'confirm a', 'read a']);
  });

  test('reads although an earlier confirmation never ends, and ignores its late failure', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const state = barrierOn(termOf('a'));
    const { promise, reject } = Promise.withResolvers<void>();
    state.confirm = () => promise;
    const lost = [state.read(), state.read()].map((read) => expect(read).rejects.toThrow('socket closed'));
    vi.advanceTimersByTime(299);
    lost.push(expect(state.read()).rejects.toThrow('socket closed'));
    expect(state.steps).toEqual(['confirm a']);
    await vi.advanceTimersByTimeAsync(1);
    state.confirm = async () => {};
    expect(await Promise.all([state.read(), state.read()])).toEqual(['a', 'a']);
    reject(new Error('socket closed'));
    await Promise.all(lost);
    expect(await state.read()).toBe('a');
    expect(state.steps).toEqual(['confirm a', 'confirm a', 'read a', 'read a', 'read a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('gives up if the primary changes during every read', async () => {
    const state = barrierOn(termOf('a'));
    const change = () => {
      state.primary = termOf('a');
    };
    await expect(state.read(change)).rejects.toThrow('the storage is electing a new primary: try again');
    expect(state.steps).toEqual(Array(3).fill(['confirm a', 'read a']).flat());
  });
});
