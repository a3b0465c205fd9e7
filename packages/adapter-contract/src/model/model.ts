// The model of the ports: what may be stored of one pet or one API key, and what each call does to it.

import { isDeepStrictEqual } from 'node:util';
import type { ApiKey, IdempotencyKey, NewPet } from '@animal-store/domain';
import type { Creation } from '@animal-store/domain/ports';

/** What a call does to what is stored: the states that may follow, none if its result was impossible. */
export interface Effect<State> {
  (state: State): readonly State[];
  /** Whether it changes no state, whenever it happens. */
  readonly isRead?: boolean;
}

const reads = <State>(effect: Effect<State>): Effect<State> => Object.assign(effect, { isRead: true });

/** A pet to create, or its idempotency key. Each request of a key has a pet of its own. */
export interface PetState {
  /** The id is undefined until a result has shown it. */
  readonly pet?: { readonly id: bigint | undefined; readonly request: NewPet } | undefined;
  /** The request whose record may be left although its pet is not stored: by an interrupted creation, or after a deletion. */
  readonly left?: NewPet | undefined;
}

/** The record of an API key, or null. */
export type KeyState = ApiKey | null;

/** For JSON, which has no integers of 64 bits. */
export const toText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);

/** What may be stored of a pet or an API key. */
export interface Possible<State> {
  states(): readonly State[];
  /**
   * Executes calls. A call that has failed may be executed at any later time, once. Calls of one effect do the same.
   *
   * @param lanes Calls of different lanes in any order, those of one lane one after the other.
   * @returns Whether there is an order in which each could return what it did.
   */
  happen(lanes: readonly (readonly Effect<State>[])[], failed?: readonly Effect<State>[]): boolean;
  /**
   * From now on no call that has failed is executed any more.
   *
   * @param wasExecuted Whether it may have been until now.
   */
  settle(wasExecuted: boolean): void;
}

/** What may be stored of one pet, or under an idempotency key. */
export interface Slot extends Possible<PetState> {
  readonly name: string;
  readonly key?: IdempotencyKey | undefined;
}

/** Calls that are made one after the other. Of equal ones there may be several. */
interface Lane<State> {
  readonly effects: readonly Effect<State>[];
  readonly count: number;
}

/** The calls that have failed and may still be executed, and how many of them do the same. */
type Late<State> = ReadonlyMap<Effect<State>, number>;

interface World<State> {
  readonly state: State;
  readonly late: Late<State>;
}

/** Lanes of one call that do the same are one: the orders of twenty would be millions. */
function grouped<State>(lanes: readonly (readonly Effect<State>[])[]): readonly Lane<State>[] {
  const single = lanes.filter(({ length }) => length === 1).flat();
  const counts = single.reduce((known, effect) => withCount(known, effect, 1), new Map<Effect<State>, number>());
  const others = lanes.filter(({ length }) => length > 1).map((effects) => ({ effects, count: 1 }));
  return [...others, ...[...counts].map(([effect, count]) => ({ effects: [effect], count }))];
}

const withCount = <Name>(counts: ReadonlyMap<Name, number>, name: Name, by: number) =>
  new Map([...counts, [name, (counts.get(name) ?? 0) + by]]);

/** The same lanes after the first call of one. */
function without<State>(lanes: readonly Lane<State>[], index: number): readonly Lane<State>[] {
  const { effects, count } = lanes[index] as Lane<State>;
  return lanes.with(index, effects.length > 1 ? { effects: effects.slice(1), count } : { effects, count: count - 1 });
}

const sum = (counts: Iterable<number>) => [...counts].reduce((one, other) => one + other, 0);

/** The same lanes without the first reads that can return what they did now: when else they could is no question. */
function afterReads<State>(state: State, lanes: readonly Lane<State>[]): readonly Lane<State>[] {
  let left = lanes;
  for (let index = 0; index < left.length; ) {
    const { effects, count } = left[index] as Lane<State>;
    const [effect] = effects;
    if (count > 0 && effect?.isRead && effect(state)[0] === state) left = without(left, index);
    else index += 1;
  }
  return left;
}

export function possible<State>(first: State): Possible<State> {
  let worlds: readonly World<State>[] = [{ state: first, late: new Map() }];
  /** How many calls have failed since the last {@link Possible.settle}. */
  let failures = 0;

  function advance(lanes: readonly (readonly Effect<State>[])[], failed: readonly Effect<State>[]): boolean {
    const seen = new Map<string, Late<State>[]>();
    const next: World<State>[] = [];
    const all = grouped(lanes);
    let level = worlds.map(({ state, late }) => ({
      ...{ state, left: all },
      late: failed.reduce((counts: Late<State>, effect) => withCount(counts, effect, 1), late),
    }));
    // Each level executes one more of the calls that have failed.
    while (level.length > 0) {
      const nextLevel: typeof level = [];
      for (const { state, left: lanes, late } of level) {
        const left = afterReads(state, lanes);
        const name = JSON.stringify([state, left.map(({ effects, count }) => effects.length * count)], toText);
        const known = seen.get(name) ?? [];
        // What can follow can also follow if more calls may be executed later: thousands of worlds are left out.
        const isIn = (more: Late<State>) => [...late].every(([effect, count]) => (more.get(effect) ?? 0) >= count);
        if (known.some(isIn)) continue;
        seen.set(name, [...known, late]);
        if (left.every(({ count }) => count === 0)) next.push({ state, late });
        for (const [index, { effects, count }] of left.entries())
          for (const each of count > 0 ? (effects[0]?.(state) ?? []) : [])
            level.push({ state: each, left: without(left, index), late });
        for (const [effect, count] of late)
          for (const each of count > 0 ? effect(state) : [])
            nextLevel.push({ state: each, left, late: withCount(late, effect, -1) });
      }
      level = nextLevel;
    }
    if (next.length > 0) worlds = next;
    return next.length > 0;
  }

  return {
    states: () => worlds.map(({ state }) => state),
    happen(lanes, failed = []) {
      const isUnchanged = ({ state, late }: World<State>) =>
        late.size === 0 && lanes.flat().every((effect) => effect(state)[0] === state);
      failures += failed.length;
      // Most calls are about others.
      return (failed.length === 0 && worlds.every(isUnchanged)) || advance(lanes, failed);
    },
    settle(wasExecuted) {
      if (wasExecuted) advance([], []);
      const notExecuted = worlds.filter(({ late }) => sum(late.values()) === failures);
      if (!wasExecuted && notExecuted.length > 0) worlds = notExecuted;
      failures = 0;
      const states = new Map(worlds.map(({ state }) => [JSON.stringify(state, toText), state]));
      worlds = [...states.values()].map((state) => ({ state, late: new Map() }));
    },
  };
}

/** @param mayRepeat Whether a request of this call may have been repeated: then the first one may have stored the pet. */
export const creates =
  (request: NewPet, result: Creation | null, mayRepeat: boolean): Effect<PetState> =>
  (state) => {
    const { pet, left } = state;
    if (result === null) return (pet?.request ?? left ?? request) === request ? [] : [state];
    const { id } = result.pet;
    if (pet === undefined) return result.created || mayRepeat ? [{ pet: { id, request }, left: request }] : [];
    const isRight = pet.request === request && (!result.created || mayRepeat) && (pet.id ?? id) === id;
    return isRight ? [{ ...state, pet: { id, request } }] : [];
  };

/** A creation that has failed: a record of its key may be left without its pet. */
export const mayCreate =
  (request: NewPet): Effect<PetState> =>
  (state) =>
    state.pet ? [state] : [{ pet: { id: undefined, request }, left: request }, { left: request }];

/** @param isShown Whether the read shows a pet with this id, which may be unknown. */
export const readsPet = (
  found: { readonly id: bigint; readonly request: NewPet } | undefined,
  isShown: (id: bigint | undefined, request: NewPet) => boolean,
): Effect<PetState> =>
  reads((state) => {
    const { pet } = state;
    if (found === undefined) return pet && isShown(pet.id, pet.request) ? [] : [state];
    if (pet?.request !== found.request || (pet.id ?? found.id) !== found.id) return [];
    // From now on the id is known.
    return pet.id === undefined ? [{ ...state, pet: found }] : [state];
  });

export const deletes =
  (id: bigint): Effect<PetState> =>
  (state) => [state.pet?.id === id ? { left: state.left } : state];

/** @param isFree Whether no other pet has the id; undefined if that is unknown. */
export const restores =
  (id: bigint, request: NewPet, isFree: boolean | undefined): Effect<PetState> =>
  (state) => {
    if (state.pet || isFree === false) return [state];
    const stored = { pet: { id, request }, left: request };
    return isFree === undefined || state.left !== undefined ? [stored, state] : [stored];
  };

export const addsKey =
  (key: ApiKey): Effect<KeyState> =>
  (state) => [state ?? key];

export const readsKey = (found: ApiKey | null): Effect<KeyState> =>
  reads((state) => (isDeepStrictEqual(found, state) ? [state] : []));

/** @param result Undefined if the call has failed. */
export const revokesKey =
  (at: number, result: ApiKey | null | undefined): Effect<KeyState> =>
  (state) => {
    const next = state && { ...state, revokedAt: state.revokedAt ?? at };
    return result === undefined || isDeepStrictEqual(result, next) ? [next] : [];
  };

export const usesKey =
  (at: number): Effect<KeyState> =>
  (state) => [state && { ...state, lastUsedAt: at }];
