import { describe, expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import type { Add, Find, List, Operation, Pet } from './history.ts';

const rex: Pet = { id: 1, name: 'Rex', status: 'sold' };
const max: Pet = { id: 2, name: 'Max' };

function violations(operations: readonly Operation[], stored: readonly Pet[]): string[] {
  return checkHistory({ operations, stored }).map(({ rule }) => rule);
}

type From = readonly [invoked: number, completed: number];

function add([invoked, completed]: From, { name, status }: Omit<Pet, 'id'>, result: Add['result'], key?: string): Add {
  return {
    type: 'add',
    name,
    ...(status === undefined ? {} : { status }),
    ...(key === undefined ? {} : { key }),
    invoked,
    completed,
    result,
  };
}

const find = ([invoked, completed]: From, id: number, result: Find['result']): Find => {
  return { type: 'find', id, invoked, completed, result };
};

function page([invoked, completed]: From, pets: readonly Pet[], { after = 0, isLast = true, status = '' } = {}): List {
  const result = { pets, isLast };
  return { type: 'list', after, ...(status === '' ? {} : { status }), invoked, completed, result };
}

describe('accepts', () => {
  test('no calls at all', () => {
    expect(violations([], [])).toEqual([]);
  });

  test('reads of what was acknowledged before', () => {
    const calls = [
      add([1, 2], rex, rex),
      find([3, 4], 1, rex),
      page([3, 4], [rex]),
      add([5, 6], max, max),
      page([7, 8], [rex, max]),
      page([7, 8], [rex], { isLast: false }),
      page([7, 8], [max], { after: 1 }),
      page([7, 8], [rex], { status: 'sold' }),
      page([7, 8], [], { status: 'pending' }),
      find([9, 9], 3, null),
    ];
    expect(violations(calls, [rex, max])).toEqual([]);
  });

  test('reads that see a pet, or do not, while it is added', () => {
    const calls = [add([1, 9], rex, rex), find([2, 5], 1, rex), find([2, 5], 1, null), page([4, 6], [])];
    expect(violations(calls, [rex])).toEqual([]);
  });

  test('a creation of unknown outcome that is not stored, is stored, or is stored later', () => {
    const calls = [
      add([1, 2], { name: 'never' }, 'unknown'),
      add([1, 2], max, 'unknown'),
      find([3, 4], 2, null),
      find([5, 6], 2, max),
    ];
    expect(violations(calls, [max])).toEqual([]);
  });

  test('one pet for several creations with one idempotency key', () => {
    const calls = [add([1, 9], rex, rex, 'k'), add([2, 3], rex, 'unknown', 'k'), add([4, 7], rex, rex, 'k')];
    expect(violations(calls, [rex])).toEqual([]);
  });

  test('reads that failed', () => {
    const failed = { ...page([3, 4], []), result: 'failed' } as const;
    expect(violations([add([1, 2], rex, rex), find([3, 4], 1, 'failed'), failed], [rex])).toEqual([]);
  });

  test('a higher id that was acknowledged before a lower one', () => {
    const calls = [add([1, 2], max, max), page([3, 4], [max]), add([5, 6], rex, rex), page([7, 8], [rex, max])];
    expect(violations(calls, [rex, max])).toEqual([]);
  });
});

describe('finds', () => {
  test('a lost pet', () => {
    expect(violations([add([1, 2], rex, rex), find([3, 4], 1, null), page([3, 4], [])], [])).toEqual(['lost pet']);
  });

  test('a doubled pet', () => {
    const again = { ...rex, id: 3 };
    expect(violations([add([1, 2], rex, rex)], [rex, again])).toEqual(['doubled pet']);
    expect(violations([add([1, 2], rex, 'unknown')], [rex, again])).toEqual(['doubled pet']);
  });

  test('an idempotency key that stands for two pets', () => {
    const again = { ...rex, id: 3 };
    const calls = [add([1, 2], rex, rex, 'k'), add([3, 4], rex, again, 'k')];
    expect(violations(calls, [rex, again])).toEqual(['repeated key']);
    // Clients have heard of one of them.
    expect(violations([add([1, 2], rex, rex, 'k')], [rex, again])).toEqual(['repeated key']);
  });

  test('an id of two pets', () => {
    const other = { id: 1, name: 'Max' };
    expect(violations([add([1, 2], rex, rex), add([1, 2], other, other)], [rex])).toEqual(['repeated id']);
  });

  test('a single pet that is missed after its acknowledgement', () => {
    expect(violations([add([1, 2], rex, rex), find([3, 4], 1, null)], [rex])).toEqual(['stale read']);
  });

  test.each([
    ['the last page', page([3, 4], [max])],
    ['a page before the last', page([3, 4], [max], { isLast: false })],
    ['a page of its status', page([3, 4], [], { status: 'sold' })],
    ['an empty page', page([3, 4], [], { after: 0 })],
  ])('a pet that %s misses after its acknowledgement', (_, list) => {
    const calls = [add([1, 2], rex, rex), add([1, 9], max, max), list];
    expect(violations(calls, [rex, max])).toEqual(['stale read']);
  });

  test('a pet that is missed between two acknowledgements of its key', () => {
    const calls = [add([1, 2], rex, rex, 'k'), find([3, 4], 1, null), add([5, 6], rex, rex, 'k')];
    expect(violations(calls, [rex])).toEqual(['stale read']);
  });

  test('a pet of unknown outcome that is missed between two reads that show it', () => {
    const calls = [add([1, 2], rex, 'unknown'), find([3, 4], 1, rex), find([5, 6], 1, null), page([7, 8], [rex])];
    expect(violations(calls, [rex])).toEqual(['vanished pet']);
  });

  test('another pet than the one that was asked for', () => {
    const calls = [add([1, 2], rex, rex), add([1, 2], max, max), find([3, 4], 3, max)];
    expect(violations(calls, [rex, max])).toEqual(['unasked pet']);
  });

  test('a pet on a page of another status', () => {
    const calls = [add([1, 2], rex, rex), add([1, 2], max, max), page([3, 4], [rex, max], { status: 'sold' })];
    expect(violations(calls, [rex, max])).toEqual(['unasked pet']);
  });

  test('an empty page that is not the last', () => {
    expect(violations([page([1, 2], [], { isLast: false })], [])).toEqual(['empty page']);
  });

  test('a pet of unknown outcome that was read and missed later', () => {
    const calls = [add([1, 2], rex, 'unknown'), find([3, 4], 1, rex), page([5, 6], [])];
    expect(violations(calls, [rex])).toEqual(['vanished pet']);
  });

  test('a pet that was read and missed later, while it is added', () => {
    const calls = [add([1, 9], rex, rex), page([3, 4], [rex]), find([5, 6], 1, null)];
    expect(violations(calls, [rex])).toEqual(['vanished pet']);
  });

  test('a pet of unknown outcome that was read and is not stored at the end', () => {
    expect(violations([add([1, 2], rex, 'unknown'), find([3, 4], 1, rex)], [])).toEqual(['vanished pet']);
  });

  test.each([
    ['descends', page([5, 6], [max, rex])],
    ['shows a pet twice', page([5, 6], [rex, rex, max])],
    ['begins before the place that was asked for', page([5, 6], [rex, max], { after: 1 })],
  ])('a page that %s', (_, list) => {
    const calls = [add([1, 2], rex, rex), add([1, 2], max, max), list];
    expect(violations(calls, [rex, max])).toEqual(['descending page']);
  });

  test('a pet that is not what was sent', () => {
    const altered = { id: 1, name: 'Rex', status: 'pending' };
    expect(violations([add([1, 2], rex, altered)], [rex])).toEqual(['altered pet']);
    expect(violations([add([1, 2], rex, rex)], [altered])).toEqual(['altered pet']);
  });

  test('a pet that nobody has added, that is added later, or whose creation failed', () => {
    expect(violations([], [rex])).toEqual(['invented pet']);
    expect(violations([find([1, 2], 1, rex), add([3, 4], rex, rex)], [rex])).toEqual(['invented pet']);
    expect(violations([add([1, 2], rex, 'failed')], [rex])).toEqual(['invented pet']);
  });
});
