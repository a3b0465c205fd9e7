// A sequence of calls at one place: the storages, each call of the ports, and whether the model allows its result.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiKey, DomainError, type IdempotencyKey, LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import {
  ALL_PETS,
  type Creation,
  fingerprint,
  type Ports,
  type Storage,
  type StoredPet,
} from '@animal-store/domain/ports';
import { expect } from 'vitest';
import {
  type Method as AnyMethod,
  callBy,
  expectNoMisconfiguration,
  expectNoSecret,
  expectUnavailable,
  failureOf,
  inTime,
  patiently,
  recovered,
} from '../calls.ts';
import { CALL_LIMIT, TRIES } from '../limits.ts';
import { openInAnotherProcess } from '../other-process.ts';
import { apiKey, CREATED_AT, FULL_PET, FULL_SELECTIONS, inOrderOfIds, MOVED, rex, selected } from '../samples.ts';
import type { StorageUnderTest } from '../storage-under-test.ts';
import { errorAbout, textOf } from './log.ts';
import {
  addsKey,
  creates,
  deletes,
  type Effect,
  type KeyState,
  mayCreate,
  type PetState,
  type Possible,
  possible,
  readsKey,
  readsPet,
  restores,
  revokesKey,
  toText,
  usesKey,
} from './model.ts';

/** How long after its call has failed a pet may be stored, in milliseconds: the call's request was executed at the end. */
const TOLERANCE = 200;

/** So many steps of a storage may fail to create once an operator has set the counter of ids back. */
const FAILING = 3;

interface Opened extends Ports, Partial<Pick<Storage, 'ready' | 'location'>>, Pick<Storage, 'archive'> {
  close(): Promise<void>;
}

/** A storage of this process, or of another one. */
export interface Actor {
  readonly name: string;
  opened?: Opened | undefined;
  /** The highest id that it has assigned; 0 if the next one may be below. */
  highest: bigint;
  /** So many steps may fail to create. */
  failing: number;
}

/** What may be stored of one pet, or under an idempotency key. */
interface Slot extends Possible<PetState> {
  readonly name: string;
  readonly key?: IdempotencyKey | undefined;
}

type Happening = readonly [Possible<PetState>, Effect<PetState>] | readonly [Possible<KeyState>, Effect<KeyState>];

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

/** A pet that a restore is given: its idempotency key, which of its requests, and whether its id may be stored. */
export type Restored = readonly [key: number, variant: number, isTaken: boolean];

export type Sequence = Awaited<ReturnType<typeof beginSequence>>;

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

const max = (one: bigint, other: bigint) => (one > other ? one : other);

function wrong(what: string): never {
  throw new Error(what);
}

/** Begins a sequence at a new place, with a model of what may be stored there. */
export async function beginSequence<Place>(adapter: StorageUnderTest<Place>, hasOtherProcess: boolean) {
  const place = await adapter.freshPlace();
  /** What was done, a line each. */
  const log: string[] = [];
  const slots = new Map<string, Slot>();
  const requests = new Map<string, NewPet>();
  const keySlotOf = (given: Partial<ApiKey>) => ({ record: apiKey(given), ...possible<KeyState>(null) });
  const keys = new Map(KEY_IDS.map((id, index) => [index, keySlotOf({ id, digest: id.padEnd(64, '0') })]));
  /** The pets that have had an id. */
  const owners = new Map<bigint, Slot>();
  /** The pets that a restore was given, by the ids. */
  const restored = new Map<bigint, Slot>();
  const batches = new Map<number, readonly StoredPet[]>();
  /** When each pet that is stored was created. */
  const times = new Map<bigint, number>();
  /** New ids are above the floor, and `lastId` is not below the top. */
  let [floor, top] = [0n, 0n];
  let isCounterBack = false;
  let made = 1;
  let count = 0;
  /** Calls may fail, and their requests may be repeated. */
  let isDisturbed = false;
  /** No failure says that settings must change. */
  let passes = false;
  /** So many undisturbed calls were slow, and failed. */
  let slow = 0;
  /** When the last creation of each request has failed, or Infinity if one has not. */
  const failedAt = new Map<NewPet, number>();
  /** How far the clock of the place is ahead. */
  let ahead: number | undefined;
  /** The writes that can be repeated, by their texts. */
  const repeatable = new Map<string, () => Call>();

  const actors = ['storage 1', 'storage 2', 'storage 3', 'another process'].map(
    (name): Actor => ({ name, highest: 0n, failing: 0 }),
  );
  const actorAt = (index: number) => actors[hasOtherProcess ? index : index % 3] as Actor;

  async function openElsewhere(): Promise<Opened> {
    const { end, ...ports } = await openInAnotherProcess(adapter.inAnotherProcess?.(place) as never);
    return { ...ports, close: end };
  }

  async function recover({ opened }: Actor, limit?: number): Promise<void> {
    if (opened?.ready) return recovered(opened as Storage, limit, passes);
    for (let left = TRIES; opened && left > 0; left -= 1)
      if ((await failureOf(() => patiently(() => opened.pets.find(1n)))) === null) return;
  }

  /** @param isUsable False if it can't work yet. */
  async function openedBy(actor: Actor, isUsable = true): Promise<Opened> {
    if (actor.opened === undefined) {
      log.push(`${actor.name} is opened`);
      actor.opened = await (actor === actors[3] ? openElsewhere() : adapter.open(place, actors.indexOf(actor)));
      actor.highest = 0n;
      if (isUsable) await recover(actor);
    }
    return actor.opened;
  }

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
    expect(pet, `pet ${id}`).toStrictEqual(request);
    return { slot: slots.get(pet.name.replace(/: .*/, '')) as Slot, request };
  }

  /** Takes an id that was shown. */
  function noteId(slot: Slot, id: bigint): void {
    const owner = owners.get(id) ?? slot;
    const isThere = owner.states().every(({ pet }) => pet?.id === id);
    const mayReplace = isCounterBack || restored.get(id) === slot;
    if (owner !== slot && (isThere || !mayReplace)) wrong(`the id ${id} was that of ${owner.name}`);
    owners.set(id, slot);
    if (!isCounterBack) top = max(top, id);
    if (restored.get(id) === slot) floor = max(floor, id);
  }

  /** One of the ids that were shown last, or one that may be next. */
  const idAt = (index: number) => {
    const number = index < OWN ? index : index - OWN;
    return index === 4 ? top + 1n : ([...owners.keys()].at(-1 - number) ?? BigInt(number + 1));
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
    const late = createdAt - (ahead ?? Infinity) - (failedAt.get(request) ?? Infinity);
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
          return [[slot, creates(request, result, isDisturbed)]];
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
      listFrom(afterAt(index), limit, variant === 0 ? ALL_PETS : FULL_SELECTIONS[index % FULL_SELECTIONS.length]),
    'archive.read': (index: number, _: number, limit: number) => readFrom(afterAt(index), limit),
    'archive.lastId': (): Call => ({
      text: 'archive.lastId',
      run: async ({ archive }) => archive?.lastId() ?? null,
      happened(result: bigint | null, hasFailed) {
        if (!hasFailed && result !== null && result < top) wrong(`the id ${top} was assigned or skipped`);
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

  /** What calls that have failed may do, by their texts. */
  const failures = new Map<string, readonly Happening[]>();

  /** Runs a call, and says what happened once all others of the step have ended. */
  async function runCall(actor: Actor, call: Call) {
    const opened = actor.opened as Opened;
    if (call.delay) await sleep(call.delay);
    const before = {
      highest: actor.highest,
      floor,
      isNew: call.slot?.states().every(({ pet, left }) => !pet && !left),
    };
    const begun = performance.now();
    count += 1;
    let result: unknown;
    if (call.repeated) repeatable.set(call.text, call.repeated);
    if (call.request) failedAt.set(call.request, Infinity);
    const failure = await failureOf(async () => {
      result = await inTime(() => call.run(opened));
    }, Infinity);
    if (call.request && failure) failedAt.set(call.request, Date.now());
    const isSlow = performance.now() - begun > CALL_LIMIT / 2;
    return { actor, call, before, result, failure, isSlow };
  }

  /** Expects that a call has failed as one may, with a cause for the operator that has no secret. */
  function expectRightFailure({ actor, call, failure, isSlow }: End): void {
    const mayFail = isDisturbed || isSlow || (call.slot && actor.failing > 0);
    if (!mayFail || !DomainError.is(failure)) throw failure;
    if (!isDisturbed) slow += 1;
    expectUnavailable(call.text, failure, { location: actor.opened?.location ?? '' });
    expectNoSecret(adapter.secrets, failure);
    if (passes) expectNoMisconfiguration([failure]);
  }

  type End = Awaited<ReturnType<typeof runCall>>;

  /** Checks the id of a creation. */
  function checkId({ actor, call: { slot }, before, result }: End): void {
    const { pet, created } = result as Creation;
    const { id } = pet;
    if (id < 1n || id > LIMITS.id.maxAssigned) wrong(`the id ${id} is out of range`);
    const least = actor.failing > 0 ? before.floor : max(before.floor, before.highest);
    if (created && before.isNew && id <= least) wrong(`the id ${id} is not above ${least}`);
    noteId(slot as Slot, id);
    if (created && before.isNew && actor.failing === 0) actor.highest = max(actor.highest, id);
  }

  type Lanes = readonly (readonly { readonly actor: Actor; readonly call: Call }[])[];

  function noteRun(lanes: readonly (readonly End[])[]): void {
    const prefixOf = (index: number) => (lanes.length < 4 ? `  at once, ${'abc'[index]}: ` : '  at once: ');
    for (const [index, lane] of lanes.entries())
      for (const { actor, call, failure, result } of lane)
        log.push(
          `${lanes.length > 1 ? prefixOf(index) : ''}${actor.name}: ${call.text} → ${textOf(failure ?? result)}`,
        );
  }

  async function open(lanes: Lanes): Promise<void> {
    for (const { actor } of lanes.flat()) await openedBy(actor);
  }

  /**
   * Runs the calls of each lane one after the other, and those of different lanes at once.
   *
   * @param gate Other lanes than the first wait for it. It is given the end of the first.
   * @param onAllEnded Awaited before the results are judged, which takes time.
   * @param onEnd Called after each call. A lane ends once it returns false.
   */
  async function run(
    lanes: Lanes,
    gate?: (ended: Promise<unknown>) => Promise<unknown>,
    onEnd: (failure: Error | null) => boolean = () => true,
    onAllEnded: () => Promise<unknown> = async () => {},
  ): Promise<readonly End[]> {
    await open(lanes);
    async function runLane(lane: Lanes[number]): Promise<End[]> {
      const ends: End[] = [];
      for (const { actor, call } of lane) {
        const end = await runCall(actor, call);
        ends.push(end);
        if (!onEnd(end.failure)) break;
      }
      return ends;
    }
    const [first = [], ...others] = lanes;
    const firstEnds = runLane(first);
    await gate?.(firstEnds);
    const ends = await Promise.all([firstEnds, ...others.map(runLane)]);
    await onAllEnded();
    noteRun(ends);
    type Effects = { readonly lanes: Effect<never>[][]; readonly failed: Effect<never>[] };
    const all = new Map<Possible<never>, Effects>();
    const results = new Map<string, readonly Happening[]>();
    for (const [index, lane] of ends.entries())
      for (const end of lane) {
        const { call, failure, result } = end;
        if (failure) expectRightFailure(end);
        const known = failure ? failures : results;
        const name = failure ? call.text : JSON.stringify([call.text, result], toText);
        const happened = known.get(name) ?? call.happened(result as never, failure !== null);
        known.set(name, happened);
        for (const [slot, effect] of happened) {
          const effects = all.get(slot as never) ?? { lanes: ends.map(() => []), failed: [] };
          all.set(slot as never, effects);
          (failure ? effects.failed : (effects.lanes[index] as unknown[])).push(effect as never);
        }
      }
    for (const [slot, { lanes, failed }] of all) {
      const before = [...new Set(slot.states().map(textOf))].join(', or ');
      if (!slot.happen(lanes, failed)) {
        const { name, record } = slot as { readonly name?: string; readonly record?: ApiKey };
        const subject = name ?? `${record?.id}`;
        throw errorAbout(subject, `that is impossible: ${subject} was before: ${before}`);
      }
    }
    for (const actor of new Set(ends.flat().map(({ actor, failure }) => failure && actor)))
      if (actor && actor.failing > 0) actor.failing -= 1;
    for (const end of ends.flat()) {
      if (end.failure || !end.result) continue;
      if (end.call.slot) checkId(end);
      else if (/^(pets|archive.read)/.test(end.call.text))
        for (const pet of [end.result as Pet | readonly Pet[]].flat())
          noteId(slots.get(pet.name.replace(/: .*/, '')) as Slot, pet.id);
    }
    return ends.flat();
  }

  async function close(actor: Actor): Promise<void> {
    const { opened } = actor;
    if (opened === undefined) return;
    log.push(`${actor.name} is closed`);
    actor.opened = undefined;
    await opened.close();
    const { ready } = opened;
    if (ready) expect(await failureOf(() => ready()), 'ready after close').toSatisfy(DomainError.is);
  }

  /** The archive of a storage that alone is open, and opened anew unless it stays open. */
  async function archiveOf(actor: Actor, staysOpen = false) {
    for (const each of actors) if (!staysOpen || each !== actor) await close(each);
    return (await openedBy(actor)).archive;
  }

  const isAt = (slot: Slot, id: bigint) => slot.states().every(({ pet }) => pet?.id === id);
  const mayBeAt = (slot: Slot, id: bigint) => slot.states().some(({ pet }) => pet && (pet.id ?? id) === id);

  for (const actor of actors.slice(0, 2)) await openedBy(actor);

  return {
    place,
    log,
    calls,
    defect,
    actorAt,
    open,
    openedBy,
    run,
    close,
    count: () => count,

    async end(): Promise<void> {
      await Promise.all(actors.map(({ opened }) => opened?.close()));
    },

    /**
     * Runs calls that something disturbs, and then waits until all storages work again.
     *
     * @param limit In milliseconds.
     * @param willPass Whether no failure may say that settings must change.
     */
    async disturbed(work: () => Promise<unknown>, willPass = false, limit?: number): Promise<void> {
      [isDisturbed, passes] = [true, willPass];
      await work();
      for (const actor of actors) await recover(actor, limit);
      [isDisturbed, passes] = [false, false];
    },

    /** From now on no call that has failed may be executed any more. */
    settle(wasExecuted: boolean): void {
      log.push('what has failed is not executed from here on');
      for (const slot of [...slots.values(), ...keys.values()]) slot.settle(wasExecuted);
    },

    /** Reads everything, page by page. Returns whether it could. */
    async readAll(actor: Actor): Promise<boolean> {
      const pages: readonly [(last: never) => Call, unknown, number][] = [
        [(after: bigint) => listFrom(after, LIMITS.page.maxRead), 0n, LIMITS.page.maxRead],
        [(after: bigint) => readFrom(after, MOVED), 0n, MOVED],
        [(after: string) => keysFrom(after, LIMITS.page.maxRead), '', LIMITS.page.maxRead],
      ];
      for (const [pageAfter, first, limit] of pages)
        for (let after = first, isWhole = false; !isWhole; ) {
          const [end] = await run([[{ actor, call: pageAfter(after as never) }]]);
          if (end?.failure) return false;
          const page = (end?.result ?? []) as readonly { readonly id: unknown }[];
          isWhole = page.length < limit;
          after = page.at(-1)?.id;
        }
      return true;
    },

    /** Repeats each write that can be repeated, twice, each at the same time as others. */
    async repeatAll(actor: Actor): Promise<void> {
      const all = [...repeatable].map(([, call]) => [{ actor, call: call() }]);
      for (let count = 0; count < 2; count += 1)
        for (let done = 0; done < all.length; done += 100) await run(all.slice(done, done + 100));
      repeatable.clear();
    },

    /** Measures how far the clock of the place is ahead, at most. */
    async readClock(actor: Actor): Promise<void> {
      const asked = Date.now();
      await run([[{ actor, call: calls['pets.add'](4, 1) }]]);
      const { archive } = await openedBy(actor);
      const [stored] = (await archive?.read(idAt(0) - 1n, 1)) ?? [];
      ahead = stored && stored.createdAt - asked;
    },

    /** How many undisturbed calls were slow, and failed. */
    slow: () => slow,

    ready: (): Call => ({ text: 'ready', run: async ({ ready }) => ready?.(), happened: () => [] }),

    async deletePet(index: number): Promise<void> {
      const id = idAt(index);
      const slot = owners.get(id);
      if (slot === undefined || !isAt(slot, id)) return;
      log.push(`an operator deletes pet ${id}, ${slot.name}`);
      await adapter.operator?.deletePet?.(place, id);
      slot.happen([[deletes(id)]]);
      times.delete(id);
    },

    async setCounterBack(): Promise<void> {
      log.push('an operator sets the counter of ids back');
      await adapter.operator?.setCounterBack?.(place);
      isCounterBack = true;
      [floor, top] = [0n, 0n];
      restored.clear();
      for (const actor of actors) Object.assign(actor, { failing: FAILING, highest: 0n });
    },

    async skipIds(actor: Actor, gap: bigint): Promise<void> {
      const archive = await archiveOf(actor);
      const to = max(0n, max(top, floor) + gap);
      if (archive === undefined) return;
      log.push(`${actor.name}: archive.skipIds ${to}`);
      await archive.skipIds(to);
      [floor, top] = [max(floor, to), max(top, to)];
    },

    /**
     * Restores pets, the same ones for each number of a batch.
     *
     * @param around Begins the call.
     */
    async restore(
      { actor, batch, gap, pets }: { actor: Actor; batch: number; gap: bigint; pets: readonly Restored[] },
      around: (begin: () => Promise<unknown>) => Promise<unknown> = (begin) => begin(),
      staysOpen = false,
    ): Promise<void> {
      const archive = await archiveOf(actor, staysOpen);
      if (archive === undefined) return;
      const highest = [floor, ...owners.keys()].reduce(max, top);
      const create = ([key, variant, isTaken]: Restored, index: number): StoredPet => {
        const slot = slotAt(key, 'Max');
        const request = requestOf(slot, variant);
        const id = isTaken && index < owners.size ? idAt(index) : highest + gap * BigInt(index + 1);
        return {
          id,
          ...request,
          createdAt: CREATED_AT,
          ...(slot.key && { idempotency: idempotencyWith(slot, request) }),
        };
      };
      const eachOnce = () => new Map(pets.map(create).map((pet) => [pet.id, pet]));
      const given = batches.get(batch) ?? inOrderOfIds([...eachOnce().values()]);
      batches.set(batch, given);
      count += 1;
      let failure: Error | null = null;
      await around(async () => {
        failure = await failureOf(() => archive.restore(given));
      });
      log.push(`${actor.name}: archive.restore ${textOf(given)} → ${textOf(failure ?? undefined)}`);
      if (failure && !(isDisturbed && DomainError.is(failure))) throw failure;
      const unknown = [...slots.values()].filter((slot) =>
        slot.states().some(({ pet }) => pet && pet.id === undefined),
      );
      for (const { createdAt: _, idempotency: __, ...pet } of given) {
        const { id } = pet;
        const { slot, request } = recognized(pet);
        const others = [owners.get(id), restored.get(id), ...unknown].filter(
          (other) => other && other !== slot,
        ) as Slot[];
        const isFree = others.some((other) => isAt(other, id))
          ? false
          : !others.some((other) => mayBeAt(other, id)) || undefined;
        const wasStored = slot.states().some(({ pet }) => pet);
        const effect = restores(id, request, isFree);
        restored.set(id, slot);
        slot.happen(failure ? [] : [[effect]], failure ? [effect] : []);
        if (!failure && !wasStored && isAt(slot, id)) noteId(slot, id);
      }
    },
  };
}
