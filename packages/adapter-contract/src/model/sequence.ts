// A sequence of calls at one place: its storages, what operators do, and whether the model allows each result.

import { type ApiKey, DomainError, LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import type { Creation, StoredPet } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { excuseSlow, failureOf, patiently } from '../calls.ts';
import { expectNoMisconfiguration, expectNoSecret, expectUnavailable, recovered } from '../failures.ts';
import { CALL_LIMIT, RECOVERY_LIMIT } from '../limits.ts';
import { isWrite } from '../methods.ts';
import { openInAnotherProcess } from '../other-process.ts';
import { CREATED_AT, inOrderOfIds, MOVED } from '../samples.ts';
import type { StorageUnderTest } from '../storage-under-test.ts';
import { type Call, callsAtNewPlace, type Happening, type Opened } from './calls.ts';
import { max } from './ids.ts';
import { errorAbout, textOf, wrong } from './log.ts';
import { deletes, type Effect, type Possible, restores, type Slot, toText } from './model.ts';

/** So many steps of a storage may fail to create once an operator has set the counter of ids back. */
const FAILING = 3;

/** A storage of this process, or of another one. */
export interface Actor {
  readonly name: string;
  opened?: Opened | undefined;
  /** The highest id that it has assigned; 0 if the next one may be below. */
  highest: bigint;
  /** So many steps may fail to create. */
  failing: number;
}

/** A pet that a restore is given: its idempotency key, which of its requests, and whether its id may be stored. */
export type Restored = readonly [key: number, variant: number, isTaken: boolean];

export type Sequence = Awaited<ReturnType<typeof beginSequence>>;

const isAt = (slot: Slot, id: bigint) => slot.states().every(({ pet }) => pet?.id === id);

/** Begins a sequence at a new place, with a model of what may be stored there. */
export async function beginSequence<Place>(adapter: StorageUnderTest<Place>, hasOtherProcess: boolean) {
  const place = await adapter.freshPlace();
  /** What was done, a line each. */
  const log: string[] = [];
  const { state, ids, slots, keys, times, calls, defect, listFrom, readFrom, keysFrom, ...others } = callsAtNewPlace();
  const { slotAt, slotOf, requestOf, idempotencyWith } = others;
  const batches = new Map<number, readonly { id: bigint; slot: Slot; request: NewPet }[]>();
  /** No failure says that settings must change. */
  let passes = false;
  // On a busy machine it may judge for longer than a storage needs to open a connection.
  const isExcused = excuseSlow(RECOVERY_LIMIT);
  /** So many undisturbed calls were slow, and failed. */
  let slow = 0;
  /** The writes that can be repeated, by their texts. */
  const repeatable = new Map<string, Call>();

  const actors = ['storage 1', 'storage 2', 'storage 3', 'another process'].map(
    (name): Actor => ({ name, highest: 0n, failing: 0 }),
  );
  const actorAt = (index: number) => actors[hasOtherProcess ? index : index % 3] as Actor;

  async function openElsewhere(): Promise<Opened> {
    const { end, ...ports } = await openInAnotherProcess(adapter.inAnotherProcess?.(place) as never);
    return { ...ports, close: end };
  }

  async function recover({ opened }: Actor, limit?: number): Promise<void> {
    if (opened === undefined) return;
    await recovered(() => opened.ready?.() ?? opened.pets.find(1n), limit, passes);
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

  /** What calls that have failed may do, by their texts. */
  const failures = new Map<string, readonly Happening[]>();

  /** Runs a call, and says what happened once all others of the step have ended. */
  async function runCall(actor: Actor, call: Call) {
    const opened = actor.opened as Opened;
    await call.after;
    const before = {
      highest: actor.highest,
      floor: ids.floor,
      isNew: call.slot?.states().every(({ pet, left }) => !pet && !left),
    };
    const begun = performance.now();
    let result: unknown;
    if (isWrite(call.text) && (!call.slot || call.slot.key)) repeatable.set(call.text, call);
    const failure = await failureOf(async () => {
      result = await call.run(opened);
    });
    const mayFail = state.isDisturbed || (failure !== null && isExcused(begun));
    const isSlow = performance.now() - begun > CALL_LIMIT / 2;
    return { actor, call, before, result, failure, mayFail, isSlow };
  }

  /** Expects that a call has failed as one may, with a cause for the operator that has no secret. */
  function expectRightFailure({ actor, call, failure, mayFail, isSlow }: End): void {
    if (!(mayFail || (call.slot && actor.failing > 0)) || !DomainError.is(failure)) throw failure;
    if (!state.isDisturbed && isSlow) slow += 1;
    expectUnavailable(call.text, failure, { location: actor.opened?.location ?? '' });
    expectNoSecret(adapter.secrets, failure);
    if (passes) expectNoMisconfiguration(failure);
  }

  type End = Awaited<ReturnType<typeof runCall>>;

  /** Checks the id of a creation. */
  function checkId({ actor, call: { slot }, before, result }: End): void {
    const { pet, created } = result as Creation;
    const { id } = pet;
    if (id < 1n || id > LIMITS.id.maxAssigned) wrong(`the id ${id} is out of range`);
    const least = max(before.floor, before.highest);
    if (created && before.isNew && id <= least) wrong(`the id ${id} is not above ${least}`);
    ids.note(slot as Slot, id);
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

  /** Expects that there is an order of the calls in which each could end as it did. */
  function judge(lanes: readonly (readonly End[])[]): void {
    type Effects = { readonly lanes: Effect<never>[][]; readonly failed: Effect<never>[] };
    const all = new Map<Possible<never>, Effects>();
    const results = new Map<string, readonly Happening[]>();
    for (const [index, lane] of lanes.entries())
      for (const end of lane) {
        const { call, failure, result } = end;
        if (failure) expectRightFailure(end);
        // Equal calls share their effects: the orders of twenty would be millions.
        const known = failure ? failures : results;
        const name = failure ? call.text : JSON.stringify([call.text, result], toText);
        const happened = known.get(name) ?? call.happened(result as never, failure !== null);
        known.set(name, happened);
        for (const [slot, effect] of happened) {
          const effects = all.get(slot as never) ?? { lanes: lanes.map(() => []), failed: [] };
          all.set(slot as never, effects);
          (failure ? effects.failed : (effects.lanes[index] as unknown[])).push(effect as never);
        }
      }
    for (const [slot, effects] of all) {
      const before = [...new Set(slot.states().map(textOf))].join(', or ');
      if (slot.happen(effects.lanes, effects.failed)) continue;
      const { name, record } = slot as { readonly name?: string; readonly record?: ApiKey };
      const subject = name ?? `${record?.id}`;
      throw errorAbout(subject, `that is impossible: ${subject} was before: ${before}`);
    }
    const ends = lanes.flat();
    for (const actor of new Set(ends.flatMap(({ actor, failure }) => (failure ? actor : []))))
      actor.failing = Math.max(0, actor.failing - 1);
    for (const end of ends) {
      if (end.failure || !end.result) continue;
      if (end.call.slot) checkId(end);
      else if (/^(pets|archive.read)/.test(end.call.text))
        for (const pet of [end.result as Pet | readonly Pet[]].flat()) ids.note(slotOf(pet), pet.id);
    }
  }

  async function open(lanes: Lanes): Promise<void> {
    for (const { actor } of lanes.flat()) await openedBy(actor);
  }

  /**
   * Runs the calls of each lane one after the other, and those of different lanes at once.
   *
   * @param onEnd Called after each call. A lane ends once it returns false.
   * @param onAllEnded Awaited before the results are judged, which takes time.
   */
  async function run(
    lanes: Lanes,
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
    const ends = await Promise.all(lanes.map(runLane));
    await onAllEnded();
    noteRun(ends);
    judge(ends);
    return ends.flat();
  }

  async function close(actor: Actor): Promise<void> {
    const { opened } = actor;
    if (opened === undefined) return;
    log.push(`${actor.name} is closed`);
    actor.opened = undefined;
    await opened.close();
    if (opened.ready) expect(await failureOf(() => opened.ready?.()), 'ready after close').toSatisfy(DomainError.is);
  }

  /** The archive of a storage that alone is open, and opened anew unless it stays open. */
  async function archiveOf(actor: Actor, staysOpen = false) {
    for (const each of actors) if (!staysOpen || each !== actor) await close(each);
    return (await openedBy(actor)).archive;
  }

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
      [state.isDisturbed, passes] = [true, willPass];
      await work();
      for (const actor of actors) await recover(actor, limit);
      [state.isDisturbed, passes] = [false, false];
    },

    /** From now on no call that has failed may be executed any more. */
    settle(wasExecuted: boolean): void {
      log.push('what has failed is not executed from here on');
      for (const slot of [...slots.values(), ...keys.values()]) slot.settle(wasExecuted);
    },

    /** Reads everything, page by page. Returns whether it could. */
    async readAll(actor: Actor): Promise<boolean> {
      const pages: readonly [(after: never, limit: number) => Call, unknown, number][] = [
        [listFrom, 0n, LIMITS.page.maxRead],
        [readFrom, 0n, MOVED],
        [keysFrom, '', LIMITS.page.maxRead],
      ];
      for (const [callFrom, first, limit] of pages)
        for (let after = first, isWhole = false; !isWhole; ) {
          const [end] = await run([[{ actor, call: callFrom(after as never, limit) }]]);
          if (end?.failure) return false;
          const page = (end?.result ?? []) as readonly { readonly id: unknown }[];
          isWhole = page.length < limit;
          after = page.at(-1)?.id;
        }
      return true;
    },

    /** Repeats each write that can be repeated, twice, each at the same time as others. */
    async repeatAll(actor: Actor): Promise<void> {
      const all = [...repeatable.values()].map((call) => [{ actor, call }]);
      for (let count = 0; count < 2; count += 1)
        for (let done = 0; done < all.length; done += 100) await run(all.slice(done, done + 100));
      repeatable.clear();
    },

    slow: () => slow,

    ready: (): Call => ({ text: 'ready', run: async (opened) => opened.ready?.(), happened: () => [] }),

    /** Deletes the pet that was shown last. */
    async deletePet(): Promise<void> {
      const id = ids.recent(0);
      const slot = ids.ownerOf(id);
      if (slot === undefined || !isAt(slot, id)) return;
      log.push(`an operator deletes pet ${id}, ${slot.name}`);
      await adapter.operator?.deletePet?.(place, id);
      slot.happen([[deletes(id)]]);
      times.delete(id);
    },

    async setCounterBack(): Promise<void> {
      log.push('an operator sets the counter of ids back');
      await adapter.operator?.setCounterBack?.(place);
      ids.setCounterBack();
      for (const actor of actors) Object.assign(actor, { failing: FAILING, highest: 0n });
    },

    async expire(): Promise<void> {
      log.push('ten years pass');
      await adapter.operator?.expire?.(place);
    },

    async skipIds(actor: Actor, gap: bigint): Promise<void> {
      const archive = await archiveOf(actor);
      const to = max(0n, max(ids.top, ids.floor) + gap);
      if (archive === undefined) return;
      log.push(`${actor.name}: archive.skipIds ${to}`);
      await patiently(() => archive.skipIds(to), isExcused);
      ids.skip(to);
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
      const highest = ids.highest();
      const all = pets.map(([key, variant, isTaken], index) => {
        const slot = slotAt(key, 'Max');
        const id = isTaken && ids.isKnown(index) ? ids.recent(index) : highest + gap * BigInt(index + 1);
        return { id, slot, request: requestOf(slot, variant) };
      });
      const once = batches.get(batch) ?? inOrderOfIds([...new Map(all.map((pet) => [pet.id, pet])).values()]);
      batches.set(batch, once);
      const given = once.map(({ id, slot, request }): StoredPet => {
        const idempotency = idempotencyWith(slot, request);
        return { id, ...request, createdAt: CREATED_AT, ...(idempotency && { idempotency }) };
      });
      let failure: Error | null = null;
      await around(async () => {
        const restore = () => archive.restore(given);
        failure = state.isDisturbed
          ? await failureOf(restore)
          : await failureOf(() => patiently(restore, isExcused), Infinity);
      });
      log.push(`${actor.name}: archive.restore ${textOf(given)} → ${textOf(failure ?? undefined)}`);
      if (failure && !(state.isDisturbed && DomainError.is(failure))) throw failure;
      const holders = Map.groupBy(
        [...slots.values()].flatMap((slot) => slot.states().flatMap(({ pet }) => (pet ? { id: pet.id, slot } : []))),
        ({ id }) => id,
      );
      for (const { id, slot, request } of once) {
        const others = [...(holders.get(id) ?? []), ...(holders.get(undefined) ?? [])].filter(
          (other) => other.slot !== slot,
        );
        const isFree = others.some((other) => isAt(other.slot, id)) ? false : others.length === 0 || undefined;
        const wasStored = slot.states().some(({ pet }) => pet);
        const effect = restores(id, request, isFree);
        ids.restored.set(id, slot);
        slot.happen(failure ? [] : [[effect]], failure ? [effect] : []);
        if (!failure && !wasStored && isAt(slot, id)) ids.note(slot, id);
      }
    },
  };
}
