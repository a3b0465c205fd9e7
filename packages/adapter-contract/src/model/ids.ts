// Which id a pet may have.

import { wrong } from './log.ts';
import type { Slot } from './model.ts';

export const max = (one: bigint, other: bigint) => (one > other ? one : other);

/** Begins with a new place, where no id was assigned. */
export function idsAtNewPlace() {
  let isCounterBack = false;
  /** The pets that have had an id. Those that were shown last come last. */
  const owners = new Map<bigint, Slot>();
  /** The pets that a restore was given, by the ids. */
  const restored = new Map<bigint, Slot>();

  const ids = {
    /** New ids are above it. */
    floor: 0n,
    /** `lastId` is not below it. */
    top: 0n,
    restored,
    ownerOf: (id: bigint) => owners.get(id),

    /** The id after which so many others were shown. */
    recent: (later: number): bigint => [...owners.keys()].at(-1 - later) ?? BigInt(later + 1),

    isKnown: (later: number) => later < owners.size,

    highest: () => [ids.floor, ...owners.keys()].reduce(max, ids.top),

    /** Takes an id that was shown. */
    note(slot: Slot, id: bigint): void {
      const owner = owners.get(id) ?? slot;
      const isThere = owner.states().every(({ pet }) => pet?.id === id);
      const isRestored = restored.get(id) === slot;
      if (owner !== slot && (isThere || !(isCounterBack || isRestored)))
        wrong(`the id ${id} was that of ${owner.name}`);
      owners.delete(id);
      owners.set(id, slot);
      if (!isCounterBack) ids.top = max(ids.top, id);
      if (isRestored) ids.floor = max(ids.floor, id);
    },

    skip(to: bigint): void {
      [ids.floor, ids.top] = [max(ids.floor, to), max(ids.top, to)];
    },

    setCounterBack(): void {
      isCounterBack = true;
      [ids.floor, ids.top] = [0n, 0n];
      restored.clear();
    },
  };
  return ids;
}
