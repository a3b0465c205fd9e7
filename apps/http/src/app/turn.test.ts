import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurn } from './turn.ts';

/** Sends responses of one turn of the event loop. */
function createResponses() {
  const wait = createTurn();
  const left: string[] = [];
  return {
    /** Those that have left so far, in their order. */
    left,
    /** Resolves when those that do not wait have left. */
    async respond(...names: string[]): Promise<void> {
      for (const name of names) void Promise.resolve(wait()).then(() => left.push(name));
      for (let microtasks = 0; microtasks < 10; microtasks += 1) await null;
    },
  };
}

test('a single response leaves at once, in turn after turn', async () => {
  const { left, respond } = createResponses();
  for (const name of ['a', 'b', 'c']) {
    await respond(name);
    expect(left.at(-1)).toBe(name);
    await endOfTurn();
  }
});

test('responses of a busy turn leave at its end, in their order, until a turn has a single one', async () => {
  const { left, respond } = createResponses();
  await respond('a', 'b');
  expect(left).toEqual(['a', 'b']);
  await endOfTurn();
  await respond('c', 'd', 'e');
  expect(left).toEqual(['a', 'b']);
  await endOfTurn();
  expect(left).toEqual(['a', 'b', 'c', 'd', 'e']);
  void respond('f');
  await endOfTurn();
  expect(left.at(-1)).toBe('f');
  await respond('g');
  expect(left.at(-1)).toBe('g');
});
