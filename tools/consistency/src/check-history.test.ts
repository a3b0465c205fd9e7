import { describe, expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import type { Add, Find, List, Operation, Pet } from './history.ts';

const rex: Pet = { id: 1, name: 'Rex', status: 'sold' };
const max: Pet = { id: 2, name: 'Max' };

function violations(operations: readonly Operation[], stored: readonly Pet[]): string[] {
  return checkHistory({ operations, stored }).map(({ rule }) => rule);
}

type From = readonly [invoked: number, completed: number];

function add([invoked, completed]: From, { name, status }: Omit<Pet, 'id'>, result: Add['result']): Add {
  return { type: 'add', name, ...(status === undefined ? {} : { status }), invoked, completed, result };
}

const find = ([invoked, completed]: From, id: number, result: Find['result']): Find => {
  return { type: 'find', id, invoked, completed, result };
};

function page([invoked, completed]: From, pets: readonly Pet[], { after = 0, isLast = true, status = '' } = {}): List {
  const result = { pets, isLast };
  return { type: 'list', after, ...(status === '' ? {} : { status }), invoked, completed, result };
}

type Case = readonly [title: string, operations: readonly Operation[], stored: readonly Pet[]];

const both = [add([1, 2], rex, rex), add([1, 2], max, max)];

/** Errors by rule that differ from those that the properties make. */
const ERRORS: Readonly<Record<string, readonly Case[]>> = {
  'stale read': [
    ['the last page', [...both, page([3, 4], [max])], [rex, max]],
    ['a page before the last', [...both, page([3, 4], [max], { isLast: false })], [rex, max]],
    ['a page of its status', [...both, page([3, 4], [], { status: 'sold' })], [rex, max]],
  ],
  'vanished pet': [['that is not stored at the end', [add([1, 2], rex, 'unknown'), find([3, 4], 1, rex)], []]],
  'unasked pet': [['of another status', [...both, page([3, 4], [rex, max], { status: 'sold' })], [rex, max]]],
  'descending page': [['with a pet twice', [...both, page([5, 6], [rex, rex, max])], [rex, max]]],
  'altered pet': [
    ['in its status', [add([1, 2], rex, { ...rex, status: 'pending' })], [rex]],
    ['in its name', [add([1, 2], rex, rex), add([1, 2], max, rex)], [rex]],
  ],
  'invented pet': [
    ['that is added later', [find([1, 2], 1, rex), add([3, 4], rex, rex)], [rex]],
    ['whose creation failed', [add([1, 2], rex, 'failed')], [rex]],
  ],
};

describe.each(Object.entries(ERRORS))('finds a %s', (rule, cases) => {
  test.each(cases)('%s', (_, operations, stored) => {
    expect(violations(operations, stored)).toEqual([rule]);
  });
});
