import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHistory, type Rule } from './check-history.ts';
import type { Add, Find, History, List, Operation, Pet } from './history.ts';

/** A call as a client plans it. Its effect lies between its invocation and its completion, or later if it is unknown. */
const plan = fc.record({
  type: fc.constantFrom('add', 'add', 'find', 'list'),
  /** Before the calls of the cases below. */
  invoked: fc.integer({ min: -200, max: -100 }),
  beforeEffect: fc.nat(10),
  afterEffect: fc.nat(10),
  outcome: fc.constantFrom('ok', 'ok', 'ok', 'failed', 'unknown', 'unknown and stored', 'unknown and stored later'),
  key: fc.option(fc.nat(3)),
  status: fc.constantFrom(undefined, 'sold'),
  /** The index of the pet to find, or of the pet after which a page begins. */
  target: fc.nat(20),
  limit: fc.integer({ min: 1, max: 5 }),
  /** Each process assigns ids of its own block. */
  process: fc.nat(2),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** The history of these calls on a single store that runs them one after the other. */
const validHistory: fc.Arbitrary<History> = fc.array(plan, { minLength: 1, maxLength: 60 }).map((plans) => {
  const stored: Pet[] = [];
  const byKey = new Map<number, Pet>();
  const lastIds = [0, 1_000, 2_000];

  function store(name: string, { key, status, process }: Plan): Pet {
    const earlier = key === null ? undefined : byKey.get(key);
    if (earlier !== undefined) return earlier;
    const id = (lastIds[process] as number) + 1;
    lastIds[process] = id;
    // All calls with one key send the same.
    const pet = status === undefined || key !== null ? { id, name } : { id, name, status };
    stored.push(pet);
    stored.sort((one, other) => one.id - other.id);
    if (key !== null) byKey.set(key, pet);
    return pet;
  }

  function run(one: Plan, index: number): Operation {
    const { type, invoked, outcome, key, status, target, limit } = one;
    const effect = invoked + one.beforeEffect;
    const times = { invoked, completed: outcome === 'unknown and stored later' ? invoked : effect + one.afterEffect };
    const ended = outcome === 'ok';
    if (type === 'add') {
      const name = key === null ? `pet ${index}` : `pet of key ${key}`;
      const stores = outcome !== 'failed' && outcome !== 'unknown';
      const pet = stores ? store(name, one) : null;
      const result = ended ? (pet as Pet) : outcome === 'failed' ? 'failed' : 'unknown';
      const sent = key === null ? (status === undefined ? {} : { status }) : { key: `k${key}` };
      return { type, name, ...sent, ...times, result };
    }
    const at = stored[target % Math.max(stored.length, 1)]?.id ?? target;
    if (type === 'find') {
      return { type, id: at, ...times, result: ended ? (stored.find(({ id }) => id === at) ?? null) : 'failed' };
    }
    const rest = stored.filter((pet) => pet.id > at && (status === undefined || pet.status === status));
    const pets = rest.slice(0, limit);
    const result = ended ? { pets, next: pets.length === rest.length ? null : 'next' } : 'failed';
    return { type: 'list', after: at, ...(status === undefined ? {} : { status }), ...times, result };
  }

  const effectOf = ({ invoked, beforeEffect }: Plan) => invoked + beforeEffect;
  const operations = plans.toSorted((one, other) => effectOf(one) - effectOf(other)).map(run);
  return { operations, stored };
});

test('accepts every history of calls on one store', () => {
  fc.assert(
    fc.property(validHistory, (history) => {
      expect(checkHistory(history)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

/** Pets that are in no valid history. */
const rex: Pet = { id: 9_001, name: 'Rex', status: 'sold' };
const max: Pet = { id: 9_002, name: 'Max' };
const rexAgain: Pet = { ...rex, id: 9_003 };

type Times = readonly [invoked: number, completed: number];

const add = ([invoked, completed]: Times, { id: _, ...sent }: Pet, result: Add['result'], key?: string): Add => {
  return { type: 'add', ...sent, ...(key && { key }), invoked, completed, result };
};

const find = ([invoked, completed]: Times, id: number, result: Find['result']): Find => {
  return { type: 'find', id, invoked, completed, result };
};

const page = ([invoked, completed]: Times, pets: readonly Pet[], next: string | null = null, status?: string): List => {
  return { type: 'list', after: 9_000, ...(status && { status }), invoked, completed, result: { pets, next } };
};

type Case = readonly [title: string, operations: readonly Operation[], stored: readonly Pet[]];

const addRex = add([1, 2], rex, rex);
const both = [addRex, add([1, 2], max, max)];
const seen = [add([1, 2], rex, 'unknown'), find([3, 4], rex.id, rex)];

test('accepts a read without a pet that is acknowledged or shown when it begins', () => {
  for (const sight of [addRex, find([1, 2], rex.id, rex)]) {
    const operations = [add([0, 4], rex, rex), sight, page([2, 3], [])];
    expect(checkHistory({ operations, stored: [rex] })).toEqual([]);
  }
});

const ERRORS: Readonly<Record<Rule, readonly Case[]>> = {
  'lost pet': [['that a read misses', [addRex, find([3, 4], rex.id, null)], []]],
  'doubled pet': [['at the end', [addRex], [rex, rexAgain]]],
  'repeated key': [['of two pets', [add([1, 2], rex, rex, 'k'), add([3, 4], rex, rexAgain, 'k')], [rex, rexAgain]]],
  'repeated id': [['of two pets', [addRex, add([1, 2], max, { ...max, id: rex.id })], [rex]]],
  'stale read': [
    ['of the pet', [...both, find([3, 4], rex.id, null)], [rex, max]],
    ['of the last page', [...both, page([3, 4], [max])], [rex, max]],
    ['of a page before the last', [...both, page([3, 4], [max], 'next')], [rex, max]],
    ['of a page of its status', [...both, page([3, 4], [], null, 'sold')], [rex, max]],
  ],
  'vanished pet': [
    ['from a later page', [...seen, page([5, 6], [])], [rex]],
    ['that is not stored at the end', seen, []],
  ],
  'descending page': [
    ['in another order', [...both, page([3, 4], [max, rex])], [rex, max]],
    ['with a pet twice', [...both, page([5, 6], [rex, rex, max])], [rex, max]],
  ],
  'empty page': [['before the last', [page([1, 2], [], 'next')], []]],
  'unasked pet': [
    ['with another id', [addRex, find([3, 4], 9_009, rex)], [rex]],
    ['of another status', [...both, page([3, 4], [rex, max], null, 'sold')], [rex, max]],
  ],
  'altered pet': [
    ['at the end', [addRex], [{ ...rex, status: 'pending' }]],
    ['in its status', [add([1, 2], rex, { ...rex, status: 'pending' })], [rex]],
    ['in its name', [addRex, add([1, 2], max, rex)], [rex]],
  ],
  'invented pet': [
    ['that nobody adds', [], [rex]],
    ['that is added later', [find([1, 2], rex.id, rex), add([3, 4], rex, rex)], [rex]],
    ['whose creation failed', [add([1, 2], rex, 'failed')], [rex]],
  ],
};

describe.each(Object.entries(ERRORS))('finds only a %s after a valid history', (rule, cases) => {
  test.each(cases)('%s', (_, operations, stored) => {
    fc.assert(
      fc.property(validHistory, (valid) => {
        const history = {
          operations: [...valid.operations, ...operations],
          stored: [...valid.stored, ...stored],
        };
        expect(new Set(checkHistory(history).map((violation) => violation.rule))).toEqual(new Set([rule]));
      }),
      { numRuns: 100 },
    );
  });
});
