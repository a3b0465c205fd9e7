import {
  type Add,
  type Find,
  type History,
  type List,
  type Operation,
  type Page,
  type Pet,
  petsIn,
} from './history.ts';

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

/** The times of the read at the end, later than all calls. */
const AFTER_ALL = { invoked: Number.POSITIVE_INFINITY, completed: Number.POSITIVE_INFINITY };

/** Returns every violation in a history: none if its calls are consistent. */
export function checkHistory({ operations, stored }: History): Violation[] {
  const violations = new Map<string, Violation>();
  const report: Report = (rule, message) => violations.set(`${rule}: ${message}`, { rule, message });
  // What is stored at the end counts as the last page that is read.
  const end: Read = { type: 'list', after: 0, ...AFTER_ALL, result: { pets: stored, next: null } };
  const reads = [...operations.filter(isRead), end];
  const adds = Map.groupBy(operations.filter(isAdd), ({ name }) => name);
  const sightings = [...operations, end].flatMap((operation) =>
    petsIn(operation).map((pet) => ({ pet, at: operation.completed, isAcknowledgement: operation.type === 'add' })),
  );
  checkIdentities(adds, sightings, report);
  checkSources(adds, sightings, report);
  for (const read of reads) checkSelection(read, report);
  checkCompleteness(reads, sightings, report);
  return [...violations.values()];
}

/** A read that returned pets, or that there is none. */
type Read = (Find & { readonly result: Pet | null }) | (List & { readonly result: Page });

const isAdd = (operation: Operation): operation is Add => operation.type === 'add';

const isRead = (operation: Operation): operation is Read =>
  operation.type !== 'add' && typeof operation.result !== 'string';

/** A pet in a response. */
interface Sighting {
  readonly pet: Pet;
  readonly at: number;
  readonly isAcknowledgement: boolean;
}

/** The creations by the names that they sent. */
type Adds = ReadonlyMap<string, readonly Add[]>;

function checkIdentities(addsByName: Adds, sightings: readonly Sighting[], report: Report): void {
  for (const [id, seen] of Map.groupBy(sightings, ({ pet }) => pet.id)) {
    const names = new Set(seen.map(({ pet }) => pet.name));
    if (names.size > 1) report('repeated id', `${id} is ${[...names].join(' and ')}`);
  }
  for (const [name, seen] of Map.groupBy(sightings, ({ pet }) => pet.name)) {
    const ids = new Set(seen.map(({ pet }) => pet.id));
    const isRepeated = addsByName.get(name)?.some(({ key }) => key !== undefined);
    if (ids.size > 1) report(isRepeated ? 'repeated key' : 'doubled pet', `${name} is ${[...ids].join(' and ')}`);
  }
}

function checkSources(addsByName: Adds, sightings: readonly Sighting[], report: Report): void {
  for (const [name, adds] of addsByName) {
    for (const pet of adds.flatMap(petsIn)) {
      if (pet.name !== name) report('altered pet', `${name} was acknowledged as ${pet.name}`);
    }
  }
  for (const { pet, at } of sightings) {
    const adds = addsByName.get(pet.name) ?? [];
    const add = adds.find(({ invoked, result }) => invoked <= at && result !== 'failed');
    if (add === undefined) report('invented pet', `nobody had added ${pet.name}, number ${pet.id}`);
    else if (add.status !== pet.status) report('altered pet', `${pet.name} is ${pet.status}, not ${add.status}`);
  }
}

/** Checks that a read shows pets that were asked for, in their order. */
function checkSelection(read: Read, report: Report): void {
  const pets = petsIn(read);
  if (read.type === 'find') {
    for (const { id } of pets) if (id !== read.id) report('unasked pet', `${id} instead of ${read.id}`);
    return;
  }
  const { after, status, result } = read;
  const ids = pets.map(({ id }) => id);
  if (ids.some((id, index) => id <= (ids[index - 1] ?? after))) {
    report('descending page', `after ${after} come ${ids.join(', ')}`);
  }
  if (ids.length === 0 && result.next !== null) report('empty page', `after ${after} comes nothing, but another page`);
  for (const pet of pets) {
    if (status === undefined || pet.status === status) continue;
    report('unasked pet', `${pet.id}, which is ${pet.status}, on a page of ${status}`);
  }
}

/** Checks that reads show each pet that had been acknowledged or read before they began. */
function checkCompleteness(reads: readonly Read[], sightings: readonly Sighting[], report: Report): void {
  const checked = reads.map((read) => ({ read, omits: omissionsOf(read) }));
  for (const [id, seen] of Map.groupBy(sightings, ({ pet }) => pet.id)) {
    const { pet } = seen[0] as Sighting;
    const acknowledged = firstTime(seen.filter(({ isAcknowledgement }) => isAcknowledgement));
    const known = firstTime(seen);
    // Calls at the same time may have happened in any order.
    const omitting = checked.filter(({ read, omits }) => known < read.invoked && omits(pet)).map(({ read }) => read);
    const stale = omitting.filter(({ invoked }) => acknowledged < invoked);
    const vanished = omitting.filter(({ invoked }) => acknowledged >= invoked);
    const name = `${pet.name}, number ${id}`;
    const missed = ({ type, invoked, completed }: Read) =>
      invoked === AFTER_ALL.invoked
        ? `${name}, is not stored in the end`
        : `${name}, missed by the ${type} from ${invoked} to ${completed}`;
    if (stale.some(({ invoked }) => invoked === AFTER_ALL.invoked)) report('lost pet', name);
    else for (const read of stale) report('stale read', `${missed(read)}: acknowledged at ${acknowledged}`);
    for (const read of vanished) report('vanished pet', missed(read));
  }
}

/** The time of the first of these, infinity if there is none. */
function firstTime(sightings: readonly Sighting[]): number {
  return sightings.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
}

/** Returns whether a read lacks a pet that it should show if the pet is stored. */
function omissionsOf(read: Read): (pet: Pet) => boolean {
  const shown = new Set(petsIn(read).map(({ id }) => id));
  if (read.type === 'find') return ({ id }) => id === read.id && !shown.has(id);
  const { after, status, result } = read;
  const last = result.next === null ? Number.POSITIVE_INFINITY : Math.max(...shown);
  return (pet) =>
    pet.id > after && pet.id <= last && !shown.has(pet.id) && (status === undefined || pet.status === status);
}
