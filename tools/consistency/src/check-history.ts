import type { Add, Find, History, List, Operation, Page, Pet } from './history.ts';

/** The rules that a history can violate. */
export type Rule =
  /** A pet that was acknowledged is stored at the end. */
  | 'lost pet'
  /** A creation without an idempotency key stores one pet at most. */
  | 'doubled pet'
  /** All creations with one idempotency key stand for one pet. */
  | 'repeated key'
  /** An id belongs to one pet. */
  | 'repeated id'
  /** A read that begins after an acknowledgement shows the pet. */
  | 'stale read'
  /** A read that begins after another has ended shows what that one showed. */
  | 'vanished pet'
  /** The ids of a page ascend, and all of them come after its beginning. */
  | 'descending page'
  /** A page that is not the last has pets. */
  | 'empty page'
  /** A read shows pets that were asked for: that with the id, or those with the status. */
  | 'unasked pet'
  /** A pet is what a client has sent. */
  | 'altered pet'
  /** A pet that is read was created by a call that has begun and has not failed. */
  | 'invented pet';

export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}

type Report = (rule: Rule, message: string) => void;

/** Returns every violation in a history: none if its calls are consistent. */
export function checkHistory(history: History): Violation[] {
  const violations = new Map<string, Violation>();
  const report: Report = (rule, message) => violations.set(`${rule}: ${message}`, { rule, message });
  const sightings = [...sightingsIn(history)];
  checkIdentities(history, sightings, report);
  checkSources(history, sightings, report);
  checkOrder(history, report);
  checkSelections(history, report);
  checkReads(history, report);
  return [...violations.values()];
}

/** A pet in a response. */
interface Sighting {
  readonly pet: Pet;
  readonly at: number;
  readonly isAcknowledgement: boolean;
}

function* sightingsIn({ operations, stored }: History): Generator<Sighting> {
  for (const operation of operations) {
    const isAcknowledgement = operation.type === 'add';
    for (const pet of petsIn(operation)) yield { pet, at: operation.completed, isAcknowledgement };
  }
  for (const pet of stored) yield { pet, at: Number.POSITIVE_INFINITY, isAcknowledgement: false };
}

function petsIn(operation: Operation): readonly Pet[] {
  const { type, result } = operation;
  if (typeof result === 'string' || result === null) return [];
  return type === 'list' ? result.pets : [result as Pet];
}

function checkIdentities({ operations }: History, sightings: readonly Sighting[], report: Report): void {
  const idsByName = Map.groupBy(sightings, ({ pet }) => pet.name);
  for (const [id, seen] of Map.groupBy(sightings, ({ pet }) => pet.id)) {
    const names = new Set(seen.map(({ pet }) => pet.name));
    if (names.size > 1) report('repeated id', `${id} is ${[...names].join(' and ')}`);
  }
  for (const [key, adds] of Map.groupBy(operations.filter(isAdd), (add) => add.key)) {
    const idsOf = ({ name, result }: Add) => [
      ...(idsByName.get(name) ?? []).map(({ pet }) => pet.id),
      ...(typeof result === 'string' ? [] : [result.id]),
    ];
    if (key !== undefined) {
      const ids = new Set(adds.flatMap(idsOf));
      if (ids.size > 1) report('repeated key', `${key} stands for ${[...ids].join(' and ')}`);
      continue;
    }
    for (const add of adds) {
      const ids = new Set(idsOf(add));
      if (ids.size > 1) report('doubled pet', `${add.name} is stored as ${[...ids].join(' and ')}`);
    }
  }
}

function checkSources({ operations }: History, sightings: readonly Sighting[], report: Report): void {
  const addsByName = Map.groupBy(operations.filter(isAdd), ({ name }) => name);
  for (const { result, name } of operations.filter(isAdd)) {
    if (typeof result !== 'string' && result.name !== name) {
      report('altered pet', `${name} was acknowledged as ${result.name}`);
    }
  }
  for (const { pet, at } of sightings) {
    const adds = (addsByName.get(pet.name) ?? []).filter(({ invoked, result }) => invoked <= at && result !== 'failed');
    const [add] = adds;
    if (add === undefined) report('invented pet', `nobody had added ${pet.name}, number ${pet.id}`);
    else if (add.status !== pet.status) report('altered pet', `${pet.name} is ${pet.status}, not ${add.status}`);
  }
}

function checkOrder({ operations, stored }: History, report: Report): void {
  const pages = operations.flatMap((one) =>
    one.type === 'list' && typeof one.result !== 'string' ? [{ after: one.after, pets: one.result.pets }] : [],
  );
  for (const { after, pets } of [...pages, { after: 0, pets: stored }]) {
    const ids = pets.map(({ id }) => id);
    if (ids.some((id, index) => id <= (ids[index - 1] ?? after))) {
      report('descending page', `after ${after} come ${ids.join(', ')}`);
    }
  }
}

function checkSelections({ operations }: History, report: Report): void {
  for (const read of operations.filter(isRead)) {
    const pets = petsIn(read);
    if (read.type === 'find') {
      for (const { id } of pets) if (id !== read.id) report('unasked pet', `${id} instead of ${read.id}`);
      continue;
    }
    for (const { id, status } of pets) {
      if (read.status !== undefined && status !== read.status) {
        report('unasked pet', `${id}, which is ${status}, on a page of ${read.status}`);
      }
    }
    if (typeof read.result !== 'string' && pets.length === 0 && !read.result.isLast) {
      report('empty page', `after ${read.after} comes nothing, but another page`);
    }
  }
}

/** A pet that reads must show. */
interface Known {
  readonly pet: Pet;
  /** When it was acknowledged first, and when it was read first. */
  acknowledged: number;
  seen: number;
}

function checkReads({ operations, stored }: History, report: Report): void {
  const known = new Map<number, Known>();
  for (const { pet, at, isAcknowledgement } of sightingsIn({ operations, stored: [] })) {
    const one = known.get(pet.id) ?? { pet, acknowledged: Number.POSITIVE_INFINITY, seen: Number.POSITIVE_INFINITY };
    known.set(pet.id, one);
    if (isAcknowledgement) one.acknowledged = Math.min(one.acknowledged, at);
    else one.seen = Math.min(one.seen, at);
  }
  const atTheEnd = new Set(stored.map(({ id }) => id));
  for (const { pet, acknowledged } of known.values()) {
    if (atTheEnd.has(pet.id)) continue;
    if (acknowledged < Number.POSITIVE_INFINITY) report('lost pet', `${pet.name}, number ${pet.id}`);
    else report('vanished pet', `${pet.name}, number ${pet.id}, which had been read, is not stored`);
  }

  for (const read of operations.filter(isRead)) {
    const shown = new Set(petsIn(read).map(({ id }) => id));
    const [after, last] = rangeOf(read);
    for (const { pet, acknowledged, seen } of known.values()) {
      // Calls at the same time may have happened in any order.
      if (acknowledged >= read.invoked && seen >= read.invoked) continue;
      if (pet.id <= after || pet.id > last || shown.has(pet.id)) continue;
      if (read.type === 'list' && read.status !== undefined && read.status !== pet.status) continue;
      const missed = `${pet.name}, number ${pet.id}, missed by the ${read.type} from ${read.invoked} to ${read.completed}`;
      if (acknowledged >= read.invoked) report('vanished pet', missed);
      // A pet that is lost is reported once.
      else if (atTheEnd.has(pet.id)) report('stale read', `${missed}: acknowledged at ${acknowledged}`);
    }
  }
}

const isAdd = (operation: Operation): operation is Add => operation.type === 'add';

const isRead = (operation: Operation): operation is Find | List => {
  return operation.type !== 'add' && typeof operation.result !== 'string';
};

/** The ids that a read shows completely: those after the first number, up to the second. */
function rangeOf(read: Find | List): readonly [after: number, last: number] {
  if (read.type === 'find') return [read.id - 1, read.id];
  const { pets, isLast } = read.result as Page;
  return [read.after, isLast ? Number.POSITIVE_INFINITY : Math.max(read.after, ...pets.map(({ id }) => id))];
}
