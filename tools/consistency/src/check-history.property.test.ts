import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHistory, type Rule } from './check-history.ts';
import type { Add, History, Operation, Pet } from './history.ts';

/** A call as a client plans it. Its effect lies between its invocation and its completion, or later if it is unknown. */
const plan = fc.record({
  type: fc.constantFrom('add', 'add', 'find', 'list'),
  invoked: fc.nat(100),
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
    const result = ended ? { pets, isLast: pets.length === rest.length } : 'failed';
    return { type: 'list', after: at, ...(status === undefined ? {} : { status }), ...times, result };
  }

  const effectOf = ({ invoked, beforeEffect }: Plan) => invoked + beforeEffect;
  const operations = plans.toSorted((one, other) => effectOf(one) - effectOf(other)).map(run);
  return { operations, stored };
});

/** The times of a call after every call of a history. */
const LATER = { invoked: 1_000, completed: 1_001 };

/** Makes a valid history violate one rule; null if that is not possible. */
type Seed = (history: History) => History | null;

const isAcknowledged = (operation: Operation): operation is Omit<Add, 'result'> & { readonly result: Pet } =>
  operation.type === 'add' && typeof operation.result === 'object';
const acknowledged = ({ operations }: History) => operations.filter(isAcknowledged);
const later = ({ operations, stored }: History, ...more: Operation[]) => ({
  operations: [...operations, ...more],
  stored,
});

/** The history as if a pet had never been stored, whatever was acknowledged. */
function without({ operations, stored }: History, id: number): History {
  const others = (pets: readonly Pet[]) => pets.filter((pet) => pet.id !== id);
  return {
    operations: operations.flatMap((one) => {
      if (one.type === 'find') return one.id === id ? { ...one, result: null } : one;
      if (one.type === 'add' || typeof one.result === 'string') return one;
      const pets = others(one.result.pets);
      // The service would have filled the page with later pets.
      if (pets.length === 0 && !one.result.isLast) return [];
      return { ...one, result: { ...one.result, pets } };
    }),
    stored: others(stored),
  };
}

const SEEDS: Readonly<Record<Rule, Seed>> = {
  'lost pet': (history) => {
    const [add] = acknowledged(history);
    return add === undefined ? null : without(history, add.result.id);
  },
  'doubled pet': (history) => {
    const add = acknowledged(history).find(({ key }) => key === undefined);
    return add === undefined ? null : { ...history, stored: [...history.stored, { ...add.result, id: 9_000 }] };
  },
  'repeated key': (history) => {
    const add = acknowledged(history).find(({ key }) => key !== undefined);
    if (add === undefined) return null;
    const result = { ...add.result, id: 9_000 };
    return { ...later(history, { ...add, ...LATER, result }), stored: [...history.stored, result] };
  },
  'repeated id': (history) => {
    const [add] = acknowledged(history);
    if (add === undefined) return null;
    return later(history, {
      type: 'add',
      name: 'another',
      ...LATER,
      result: { id: add.result.id, name: 'another' },
    });
  },
  'stale read': (history) => {
    const [add] = acknowledged(history);
    return add === undefined ? null : later(history, { type: 'find', id: add.result.id, ...LATER, result: null });
  },
  'vanished pet': (history) => {
    const pet = { id: 9_000, name: 'seen once' };
    const seen = later(
      history,
      { type: 'add', name: pet.name, ...LATER, result: 'unknown' },
      { type: 'find', id: pet.id, ...LATER, result: pet },
      { type: 'list', after: 8_000, invoked: 1_002, completed: 1_003, result: { pets: [], isLast: true } },
    );
    return { ...seen, stored: [...history.stored, pet] };
  },
  'descending page': (history) => {
    if (history.stored.length < 2) return null;
    const pets = history.stored.toReversed();
    return later(history, { type: 'list', after: 0, ...LATER, result: { pets, isLast: true } });
  },
  'empty page': (history) =>
    later(history, { type: 'list', after: 9_000, ...LATER, result: { pets: [], isLast: false } }),
  'unasked pet': (history) => {
    const [pet] = history.stored;
    return pet === undefined ? null : later(history, { type: 'find', id: 9_000, ...LATER, result: pet });
  },
  'altered pet': ({ operations, stored: [pet, ...others] }) => {
    return pet === undefined ? null : { operations, stored: [{ ...pet, status: 'pending' }, ...others] };
  },
  'invented pet': ({ operations, stored }) => {
    return { operations, stored: [...stored, { id: 9_000, name: 'nobody added it' }] };
  },
};

test('accepts every history of calls on one store', () => {
  fc.assert(
    fc.property(validHistory, (history) => {
      expect(checkHistory(history)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

describe('finds in a valid history that was made to violate one rule', () => {
  test.each(Object.entries(SEEDS))('only that one: %s', (rule, seed) => {
    fc.assert(
      fc.property(validHistory, (history) => {
        const seeded = seed(history);
        fc.pre(seeded !== null);
        expect(new Set(checkHistory(seeded).map((violation) => violation.rule))).toEqual(new Set([rule]));
      }),
      { numRuns: 300 },
    );
  });
});
