// Each call of the ports, and what it says about what is stored at a place.

import { type ApiKey, type IdempotencyKey, LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import {
  ALL_PETS,
  type Creation,
  fingerprint,
  type Ports,
  type Storage,
  type StoredPet,
} from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { type Method as AnyMethod, callBy, failureOf } from '../calls.ts';
import { apiKey, expectSame, FULL_PET, FULL_SELECTION, inOrderOfIds, rex, selected } from '../samples.ts';
import { textOf } from './log.ts';
import {
  addsKey,
  creates,
  type Effect,
  type KeyState,
  mayCreate,
  type PetState,
  type Possible,
  possible,
  readsKey,
  readsPet,
  revokesKey,
  usesKey,
} from './model.ts';

/** How long after its call has failed a pet may be stored, in milliseconds: the call's request was executed at the end. */
const TOLERANCE = 200;

export interface Opened extends Ports, Partial<Pick<Storage, 'ready' | 'location'>>, Pick<Storage, 'archive'> {
  close(): Promise<void>;
}

/** What may be stored of one pet, or under an idempotency key. */
export interface Slot extends Possible<PetState> {
  readonly name: string;
  readonly key?: IdempotencyKey | undefined;
}

export type Happening =
  | readonly [Possible<PetState>, Effect<PetState>]
  | readonly [Possible<KeyState>, Effect<KeyState>];

/** A call of a port. */
export interface Call {
  readonly text: string;
  run(opened: Opened): Promise<unknown>;
  /** What it did if it returned this, or failed. Throws if it could not return it. */
  happened(result: never, hasFailed: boolean): readonly Happening[];
  readonly slot?: Slot;
  /** What it creates. */
  readonly request?: NewPet;
  /** How much later than others at the same time it begins, in milliseconds. */
  readonly delay?: number;
  /** The same call again. */
  readonly repeated?: () => Call;
}

/** A method of the ports that any storage may call at any time. The other two have the place alone. */
export type Method = Exclude<AnyMethod, 'archive.restore' | 'archive.skipIds'>;

/** From this number on, names of pets are those of idempotency keys of their own, and so are API keys. */
export const OWN = 10;

/** The keys of one holder have the same hash, as Java makes it. */
const KEYS: readonly IdempotencyKey[] = [
  { holder: 'the zoo', key: 'Aa' },
  { holder: '', key: 'Aa' },
  { holder: 'the zoo', key: 'BB' },
];

/** Ids of API keys, which as doubles are the same, or differ in the last digit alone. */
const KEY_IDS = ['9007199254740c0f', '9007199254740c10', '9007199254740c1f', '0000000000000001', 'ffffffffffffffff'];

/** What the names of the requests of an idempotency key end with. */
const ENDS = ['a é', 'b e\u0301', 'of an earlier version'];

/** Another version may have made another fingerprint. */
const fingerprintOf = (request: NewPet) => (request.name.endsWith('version') ? 'earlier' : fingerprint(request));

export const max = (one: bigint, other: bigint) => (one > other ? one : other);

export function wrong(what: string): never {
  throw new Error(what);
}

/** Begins with a new place, at which nothing is stored. */
export function callsAtNewPlace() {
  const state = {
    /** New ids are above the floor, and `lastId` is not below the top. */
    floor: 0n,
    top: 0n,
    isCounterBack: false,
    /** Calls may fail, and their requests may be repeated. */
    isDisturbed: false,
    /** How far the clock of the place is ahead. */
    ahead: undefined as number | undefined,
  };
  const slots = new Map<string, Slot>();
  const requests = new Map<string, NewPet>();
  const keySlotOf = (given: Partial<ApiKey>) => ({ record: apiKey(given), ...possible<KeyState>(null) });
  const keys = new Map(KEY_IDS.map((id, index) => [index, keySlotOf({ id, digest: id.padEnd(64, '0') })]));
  /** The pets that have had an id. */
  const owners = new Map<bigint, Slot>();
  /** The pets that a restore was given, by the ids. */
  const restored = new Map<bigint, Slot>();
  /** When each pet that is stored was created. */
  const times = new Map<bigint, number>();
  /** When the last creation of each request has failed, or Infinity if one has not. */
  const failedAt = new Map<NewPet, number>();
  let made = 1;

  function slotOf(name: string, key?: IdempotencyKey): Slot {
    const slot = slots.get(name) ?? { name, key, ...possible<PetState>({}) };
    slots.set(name, slot);
    return slot;
  }
  const slotAt = (index: number, name: string) => {
    const key = index < OWN ? KEYS[index] : { holder: 'the zoo', key: `k${index}` };
    return slotOf(key ? `${key.key} of ${key.holder || 'nobody'}` : `${name} ${made++}`, key);
  };

  const idempotencyWith = ({ key }: Slot, request: NewPet) => key && { ...key, fingerprint: fingerprintOf(request) };

  function requestOf({ name }: Slot, variant: number): NewPet {
    const request = { ...(variant === 0 ? FULL_PET : rex()), name: `${name}: ${ENDS[variant]}` };
    const known = requests.get(request.name) ?? request;
    requests.set(request.name, known);
    return known;
  }

  function recognized({ id, ...pet }: Pet): { slot: Slot; request: NewPet } {
    const request = requests.get(pet.name) ?? wrong(`nobody has sent the pet ${id} "${pet.name}"`);
    expectSame(pet, request, `pet ${id}`);
    return { slot: slots.get(pet.name.replace(/: .*/, '')) as Slot, request };
  }

  /** Takes an id that was shown. */
  function noteId(slot: Slot, id: bigint): void {
    const owner = owners.get(id) ?? slot;
    const isThere = owner.states().every(({ pet }) => pet?.id === id);
    const mayReplace = state.isCounterBack || restored.get(id) === slot;
    if (owner !== slot && (isThere || !mayReplace)) wrong(`the id ${id} was that of ${owner.name}`);
    // The ids that were shown last come last.
    owners.delete(id);
    owners.set(id, slot);
    if (!state.isCounterBack) state.top = max(state.top, id);
    if (restored.get(id) === slot) state.floor = max(state.floor, id);
  }

  /** One of the ids that were shown last, or one that may be next. */
  const idAt = (index: number) => {
    const number = index < OWN ? index : index - OWN;
    return index === 4 ? state.top + 1n : ([...owners.keys()].at(-1 - number) ?? BigInt(number + 1));
  };
  const afterAt = (index: number) => (index > 2 ? 0n : idAt(index));

  function readAll(
    found: readonly Pet[],
    shows: (id: bigint | undefined, request: NewPet) => boolean,
  ): readonly Happening[] {
    const shown = new Map<Slot, { id: bigint; request: NewPet }>();
    for (const pet of found) {
      const { slot, request } = recognized(pet);
      if (shown.has(slot)) wrong(`${slot.name} is stored twice`);
      shown.set(slot, { id: pet.id, request });
    }
    return [...slots.values()].map((slot): Happening => [slot, readsPet(shown.get(slot), shows)]);
  }

  function readPage(found: readonly Pet[], after: bigint, limit: number, filters = ALL_PETS): readonly Happening[] {
    const ids = found.map(({ id }) => id);
    expect(found, 'in ascending order').toEqual(inOrderOfIds(found));
    expect(ids.length, 'the length of the page').toBeLessThanOrEqual(limit);
    const isFull = ids.length === limit;
    const last = isFull ? (ids.at(-1) as bigint) : LIMITS.id.max;
    return readAll(found, (id, request) => {
      if (selected([request], filters).length === 0) return false;
      return id === undefined ? after === 0n && !isFull : id > after && id <= last;
    });
  }

  function keyAt(index: number) {
    const key = keys.get(index) ?? keySlotOf({});
    keys.set(index, key);
    return key;
  }

  /** Expects that a pet was not stored after its calls had failed. */
  function expectInTime(request: NewPet, createdAt: number): void {
    const late = createdAt - (state.ahead ?? Infinity) - (failedAt.get(request) ?? Infinity);
    if (late > TOLERANCE) wrong(`the pet "${request.name}" was stored ${late} ms after its call had failed`);
  }

  function listFrom(after: bigint, limit: number, filters = ALL_PETS): Call {
    const given = Object.entries(filters).map(([name, value]) => `, ${name} ${value}`);
    return {
      text: `pets.list after ${after}, limit ${limit}${given.join('')}`,
      run: ({ pets }) => pets.list({ ...filters, after, limit }),
      happened: (found: readonly Pet[], hasFailed) => (hasFailed ? [] : readPage(found, after, limit, filters)),
    };
  }

  function readFrom(after: bigint, limit: number): Call {
    return {
      text: `archive.read after ${after}, limit ${limit}`,
      run: async ({ archive }) => archive?.read(after, limit) ?? null,
      happened(found: readonly StoredPet[] | null, hasFailed) {
        if (hasFailed || found === null) return [];
        const pets = found.map(({ createdAt, idempotency, ...pet }) => {
          const { slot, request } = recognized(pet);
          expect(idempotency, `the key of pet ${pet.id}`).toEqual(idempotencyWith(slot, request));
          expect(createdAt, `the time of pet ${pet.id}`).toBe(times.get(pet.id) ?? createdAt);
          if (!times.has(pet.id)) expectInTime(request, createdAt);
          times.set(pet.id, createdAt);
          return pet;
        });
        return readPage(pets, after, limit);
      },
    };
  }

  function keysFrom(after: string, limit: number): Call {
    return {
      text: `keys.list after "${after}", limit ${limit}`,
      run: ({ keys }) => keys.list({ after, limit }),
      happened(found: readonly ApiKey[], hasFailed) {
        if (hasFailed) return [];
        const ids = found.map(({ id }) => id);
        expect(ids, 'each once, in ascending order').toEqual([...new Set(ids)].sort());
        expect(ids.length, 'the length of the page').toBeLessThanOrEqual(limit);
        const last = ids.length === limit ? (ids.at(-1) as string) : 'g';
        const shown = [...keys.values()].filter(({ record: { id } }) => id > after && id <= last);
        return shown.map((slot) => [slot, readsKey(found.find(({ id }) => id === slot.record.id) ?? null)]);
      },
    };
  }

  /** Each call of the ports, by numbers that say with what. */
  const calls = {
    'pets.add'(index: number, variant: number): Call {
      const slot = slotAt(index, 'Rex');
      const request = requestOf(slot, variant);
      return {
        ...{ slot, request },
        ...(slot.key && { repeated: () => calls['pets.add'](index, variant) }),
        text: `pets.add "${request.name}"`,
        run: ({ pets }) => pets.add(request, idempotencyWith(slot, request)),
        happened(result: Creation | null, hasFailed) {
          if (hasFailed) return [[slot, mayCreate(request)]];
          if (result) expect(recognized(result.pet), 'the pet of the call').toEqual({ slot, request });
          return [[slot, creates(request, result, state.isDisturbed)]];
        },
      };
    },
    'pets.find'(index: number): Call {
      const id = idAt(index);
      return {
        text: `pets.find ${id}`,
        run: ({ pets }) => pets.find(id),
        happened(found: Pet | null, hasFailed) {
          if (hasFailed) return [];
          if (found) expect(found.id).toBe(id);
          return readAll(found ? [found] : [], (each) => each === id);
        },
      };
    },
    'pets.list': (index: number, variant: number, limit: number) =>
      listFrom(afterAt(index), limit, variant === 0 ? ALL_PETS : FULL_SELECTION),
    'archive.read': (index: number, _: number, limit: number) => readFrom(afterAt(index), limit),
    'archive.lastId': (): Call => ({
      text: 'archive.lastId',
      run: async ({ archive }) => archive?.lastId() ?? null,
      happened(result: bigint | null, hasFailed) {
        if (!hasFailed && result !== null && result < state.top) wrong(`the id ${state.top} was assigned or skipped`);
        return [];
      },
    }),
    'keys.add'(index: number, variant: number): Call {
      const slot = keyAt(index);
      const record: ApiKey = { ...slot.record, holder: `holder ${variant}` };
      return {
        text: `keys.add ${record.id} of ${record.holder}`,
        repeated: () => calls['keys.add'](index, variant),
        run: ({ keys }) => keys.add(record),
        happened: () => [[slot, addsKey(record)]],
      };
    },
    'keys.find'(index: number): Call {
      const slot = keyAt(index);
      return {
        text: `keys.find ${slot.record.id}`,
        run: ({ keys }) => keys.find(slot.record.digest),
        happened: (found: ApiKey | null, hasFailed) => (hasFailed ? [] : [[slot, readsKey(found)]]),
      };
    },
    'keys.list': (index: number, _: number, limit: number) => keysFrom(index > 2 ? '' : keyAt(index).record.id, limit),
    'keys.recordUse'(index: number, at: number): Call {
      const slot = keyAt(index);
      return {
        text: `keys.recordUse ${slot.record.id} at ${at}`,
        repeated: () => calls['keys.recordUse'](index, at),
        run: ({ keys }) => keys.recordUse(slot.record.id, at),
        happened: () => [[slot, usesKey(at)]],
      };
    },
    'keys.revoke'(index: number, at: number): Call {
      const slot = keyAt(index);
      return {
        text: `keys.revoke ${slot.record.id} at ${at}`,
        repeated: () => calls['keys.revoke'](index, at),
        run: ({ keys }) => keys.revoke(slot.record.id, at),
        happened: (result: ApiKey | null, hasFailed) => [[slot, revokesKey(at, hasFailed ? undefined : result)]],
      };
    },
  } satisfies Record<Method, (index: number, variant: number, limit: number) => Call>;

  /** A call whose argument is missing. Its error is a defect, and concerns no call beside it. */
  const defect = (name: AnyMethod): Call => ({
    text: `a call of ${name} without an argument`,
    run: (opened) => failureOf(() => callBy(opened, name, [])),
    happened(failure: unknown) {
      if (!(failure instanceof TypeError)) wrong(`instead of a TypeError: ${textOf(failure)}`);
      return [];
    },
  });

  const isAt = (slot: Slot, id: bigint) => slot.states().every(({ pet }) => pet?.id === id);
  const mayBeAt = (slot: Slot, id: bigint) => slot.states().some(({ pet }) => pet && (pet.id ?? id) === id);

  return {
    ...{ state, slots, keys, owners, restored, times, failedAt, calls, defect, listFrom, readFrom, keysFrom },
    ...{ slotAt, requestOf, idempotencyWith, recognized, noteId, idAt, isAt, mayBeAt },
  };
}
