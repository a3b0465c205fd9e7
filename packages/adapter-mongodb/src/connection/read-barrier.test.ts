import { describe, expect, test } from 'vitest';
import type { PrimaryTerm } from './primary.ts';
import { createReadBarrier } from './read-barrier.ts';

const termOf = (address: string): PrimaryTerm => ({ address, electionId: address });

/** A barrier over a primary that tests change, and what it did. */
function barrierOn(first: PrimaryTerm | null) {
  const steps: string[] = [];
  const state = { primary: first, steps, confirm: async () => {} };
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

describe('read barrier', () => {
  test('confirms a primary before the first read, and not again', async () => {
    const { read, steps } = barrierOn(termOf('a'));
    expect(await read()).toBe('a');
    expect(await read()).toBe('a');
    expect(steps).toEqual(['confirm a', 'read a', 'read a']);
  });

  test('confirms once for reads that wait for it together', async () => {
    const { read, steps } = barrierOn(termOf('a'));
    await Promise.all([read(), read(), read()]);
    expect(steps).toEqual(['confirm a', 'read a', 'read a', 'read a']);
  });

  test('discards a result if the primary changed during the read', async () => {
    const state = barrierOn(termOf('a'));
    let changes = 0;
    const change = () => {
      changes += 1;
      if (changes === 1) state.primary = termOf('b');
    };
    expect(await state.read(change)).toBe('b');
    expect(state.steps).toEqual(['confirm a', 'read a', 'confirm b', 'read b']);
  });

  test('discards a result if the primary was lost and found again during the read', async () => {
    const state = barrierOn(termOf('a'));
    let losses = 0;
    const lose = () => {
      losses += 1;
      if (losses === 1) state.primary = termOf('a');
    };
    expect(await state.read(lose)).toBe('a');
    expect(state.steps).toEqual(['confirm a', 'read a', 'confirm a', 'read a']);
  });

  test('confirms again if the primary changed during the confirmation, or was not known when it began', async () => {
    const state = barrierOn(null);
    const next = [termOf('a'), termOf('b')];
    state.confirm = async () => {
      state.primary = next.shift() ?? state.primary;
    };
    expect(await state.read()).toBe('b');
    expect(state.steps).toEqual(['confirm undefined', 'confirm a', 'confirm b', 'read b']);
  });

  test('fails a read whose primary cannot be confirmed, and tries again for the next one', async () => {
    const state = barrierOn(termOf('a'));
    state.confirm = () => Promise.reject(new Error('no majority'));
    await expect(state.read()).rejects.toThrow('no majority');
    state.confirm = async () => {};
    expect(await state.read()).toBe('a');
    expect(state.steps).toEqual(['confirm a', 'confirm a', 'read a']);
  });

  test('gives up if the primary changes during every read', async () => {
    const state = barrierOn(termOf('a'));
    const change = () => {
      state.primary = termOf('a');
    };
    await expect(state.read(change)).rejects.toMatchObject({ name: 'DomainError', code: 'storage_unavailable' });
  });
});
