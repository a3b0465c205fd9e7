import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurn } from './turn.ts';

/** Sends responses of one turn of the event loop, and returns the names of those that have left so far, in their order. */
function createResponses() {
  const wait = createTurn();
  const left: string[] = [];
  return {
    left,
    async respond(name: string): Promise<void> {
      await wait();
      left.push(name);
    },
  };
}

const microtasks = async () => {
  for (let count = 0; count < 10; count += 1) await null;
};

test('a single response leaves at once, in turn after turn', async () => {
  const { left, respond } = createResponses();
  for (const name of ['a', 'b', 'c']) {
    void respond(name);
    await microtasks();
    expect(left.at(-1)).toBe(name);
    await endOfTurn();
  }
});

test('responses of a busy turn leave at its end, in their order', async () => {
  const { left, respond } = createResponses();
  for (const name of ['a', 'b']) void respond(name);
  await microtasks();
  expect(left).toEqual(['a', 'b']);
  await endOfTurn();
  for (const name of ['c', 'd', 'e']) void respond(name);
  await microtasks();
  expect(left).toEqual(['a', 'b']);
  await endOfTurn();
  expect(left).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a response waits for the end of its own turn only', async () => {
  const { left, respond } = createResponses();
  for (const name of ['a', 'b']) void respond(name);
  await endOfTurn();
  void respond('c');
  await endOfTurn();
  expect(left).toContain('c');
  void respond('d');
  await microtasks();
  expect(left.at(-1)).toBe('d');
});
