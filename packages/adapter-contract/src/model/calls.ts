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
import { failureOf } from '../calls.ts';
import { type Method as AnyMethod, callBy } from '../methods.ts';
import { apiKey, expectSame, FULL_PET, FULL_SELECTION, inOrderOfIds, rex, selected } from '../samples.ts';
import { idsAtNewPlace } from './ids.ts';
import { textOf, wrong } from './log.ts';
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
  type Slot,
  usesKey,
} from './model.ts';

export interface Opened extends Ports, Partial<Pick<Storage, 'ready' | 'location'>>, Pick<Storage, 'archive'> {
  close(): Promise<void>;
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
  /** Of what it creates. */
  readonly slot?: Slot;
  /** It begins later than others at the same time: then. */
  readonly after?: Promise<unknown> | undefined;
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

/** Begins with a new place, at which nothing is stored. */
export function callsAtNewPlace() {
  /** Whether calls may fail, and their requests may be repeated. */
  const state = { isDisturbed: false };
  const ids = idsAtNewPlace();
  const slots = new Map<string, Slot>();
  const requests = new Map<string, { slot: Slot; request: NewPet }>();
  const keySlotOf = (given: Partial<ApiKey>) => ({ record: apiKey(given), ...possible<KeyState>(null) });
  const keys = new Map(KEY_IDS.map((id, index) => [index, keySlotOf({ id, digest: id.padEnd(64, '0') })]));
  /** When each pet that is stored was created. */
  const times = new Map<bigint, number>();
  let made = 1;

  function slotAt(index: number, prefix: string): Slot {
    const key = index < OWN ? KEYS[index] : { holder: 'the zoo', key: `k${index}` };
    const name = key ? `${key.key} of ${key.holder || 'nobody'}` : `${prefix} ${made++}`;
    const slot = slots.get(name) ?? { name, key, ...possible<PetState>({}) };
    slots.set(name, slot);
    return slot;
  }

  const idempotencyWith = ({ key }: Slot, request: NewPet) => key && { ...key, fingerprint: fingerprintOf(request) };

  function requestOf(slot: Slot, variant: number): NewPet {
    const name = `${slot.name}: ${ENDS[variant]}`;
    const known = requests.get(name) ?? { slot, request: { ...(variant === 0 ? FULL_PET : rex()), name } };
    requests.set(name, known);
    return known.request;
  }

  const slotOf = ({ name }: Pet) => requests.get(name)?.slot as Slot;

  function recognized({ id, ...pet }: Pet): { slot: Slot; request: NewPet } {
    const known = requests.get(pet.name) ?? wrong(`nobody has sent the pet ${id} "${pet.name}"`);
    expectSame(pet, known.request, `pet ${id}`);
    return known;
  }

  /** One of the ids that were shown last, or one that may be next. */
  const idAt = (index: number) => (index === 4 ? ids.top + 1n : ids.recent(index < OWN ? index : index - OWN));
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
    expect(found, 'in ascending order').toEqual(inOrderOfIds(found));
    expect(found.length, 'the length of the page').toBeLessThanOrEqual(limit);
    const isFull = found.length === limit;
    const last = isFull ? (found.at(-1) as Pet).id : LIMITS.id.max;
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

  function listFrom(after: bigint, limit: number, filters = ALL_PETS): Call {
    const given = Object.entries({ after, limit, ...filters }).filter(([, value]) => value !== undefined);
    return {
      text: `pets.list ${given.map(([name, value]) => `${name} ${value}`).join(', ')}`,
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
        slot,
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
        if (!hasFailed && result !== null && result < ids.top) wrong(`the id ${ids.top} was assigned or skipped`);
        return [];
      },
    }),
    'keys.add'(index: number, variant: number): Call {
      const slot = keyAt(index);
      const record: ApiKey = { ...slot.record, holder: `holder ${variant}` };
      return {
        text: `keys.add ${record.id} of ${record.holder}`,
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
        run: ({ keys }) => keys.recordUse(slot.record.id, at),
        happened: () => [[slot, usesKey(at)]],
      };
    },
    'keys.revoke'(index: number, at: number): Call {
      const slot = keyAt(index);
      return {
        text: `keys.revoke ${slot.record.id} at ${at}`,
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

  return {
    ...{ state, ids, slots, keys, times, calls, defect, listFrom, readFrom, keysFrom },
    ...{ slotAt, slotOf, requestOf, idempotencyWith },
  };
}
