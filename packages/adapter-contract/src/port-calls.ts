import type { ApiKey, NewPet, Pet } from '@animal-store/domain';
import type {
  Idempotency,
  PetArchive,
  PetSelection,
  PortMethod,
  Ports,
  Storage,
  StoredPet,
} from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { type Calls, inTime, patiently } from './calls.ts';
import { added, apiKey, everyKey, everyPage, idempotencyOf, rex } from './samples.ts';

/** A storage of this process, or the ports of one in another. */
type Caller = Ports & Pick<Storage, 'archive'>;

/** The methods that read. Any other is a write: one that is missing in the table of its kind is a compile error. */
type Read = 'pets.find' | 'pets.list' | 'keys.find' | 'keys.list';
type ArchiveRead = Exclude<`archive.${keyof PetArchive}`, 'archive.restore' | 'archive.skipIds'>;
type Write = Exclude<PortMethod, Read> | 'pets.add with an idempotency key';

/**
 * The calls of the ports at one place, and what must hold of each in any interruption, by whichever storage: a read shows all that
 * was acknowledged when it began, and nothing that nobody sent; a write returns what it stored, once at most, however often it is
 * repeated. A restore has tests of its own.
 */
export interface PortCalls {
  /** Reads of everything, of the pets and the API keys that were changed last, and of the next ones. */
  reads(caller: Caller, count?: number): Calls;

  /**
   * Writes of two pets and of one API key, in an order in which they can be made. Each call without an idempotency key is another
   * creation.
   *
   * @param index Of what they write. `@default another one in each call`
   */
  writes(caller: Caller, index?: number): Calls<Write>;

  /** Expects that all that was acknowledged is there, and that each write can be repeated, except for pets without a key. */
  expectKept(caller: Caller): Promise<void>;
}

interface SentPet {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency | undefined;
}

/** All pets of an archive, page by page. */
async function everyStored(archive: PetArchive): Promise<StoredPet[]> {
  const stored: StoredPet[] = [];
  for (;;) {
    const page = await inTime(() => archive.read(stored.at(-1)?.id ?? 0n, 1_000));
    stored.push(...page);
    if (page.length < 1_000) return stored;
  }
}

export function portCalls(): PortCalls {
  let next = 0;
  let created = 0;
  const keyOf: ApiKey[] = [];
  /** What was sent: pets by their names, API keys by their ids with all changes. */
  const sent = { pets: new Map<string, SentPet>(), keys: new Map<string, ApiKey>() };
  /** What was acknowledged. The last one was changed last. */
  const kept = { pets: new Map<bigint, Pet>(), ids: new Map<string, bigint>(), keys: new Map<string, ApiKey>() };

  /** The highest ids that were acknowledged. */
  const highest = new WeakMap<object, bigint>();
  const highestOfAll = () => [...kept.pets.keys()].reduce((one, other) => (one > other ? one : other), 0n);

  const whole = ({ id, name }: Pet) => ({ id, ...sent.pets.get(name)?.newPet });

  /** @param before The record when the call began. */
  function wholeKey(found: ApiKey | null, before: ApiKey | undefined): unknown {
    const key = sent.keys.get(found?.id ?? '');
    const memberOf = (name: 'revokedAt' | 'lastUsedAt') =>
      before?.[name] ?? ((found?.[name] ?? null) === null ? null : key?.[name]);
    return { ...key, revokedAt: memberOf('revokedAt'), lastUsedAt: memberOf('lastUsedAt') };
  }

  function expectEach<Id>(found: readonly Id[], before: Iterable<Id>, ordered: readonly Id[]): void {
    const ids = new Set(found);
    expect([...ids], 'each once, in ascending order').toEqual(ordered);
    expect(
      [...before].filter((id) => !ids.has(id)),
      'acknowledged, but missing',
    ).toEqual([]);
  }

  async function readPets(read: () => Promise<readonly Pet[]>): Promise<void> {
    const before = [...kept.pets.keys()];
    const found = await read();
    const ids = found.map(({ id }) => id);
    expectEach(
      ids,
      before,
      ids.toSorted((one, other) => Number(one - other)),
    );
    expect(found).toStrictEqual(found.map(whole));
    const names = new Set<string>();
    expect(
      found.filter(({ name }) => names.size === names.add(name).size),
      'created twice',
    ).toEqual([]);
  }

  async function findPet({ pets }: Ports, id: bigint): Promise<void> {
    const before = kept.pets.get(id);
    const found = await inTime(() => pets.find(id));
    expect(found).toStrictEqual(before ?? (found && whole(found)));
  }

  async function readKeys({ keys }: Ports): Promise<void> {
    const before = new Map(kept.keys);
    const found = await everyKey({ ...keys, list: (selection) => inTime(() => keys.list(selection)) });
    const ids = found.map(({ id }) => id);
    expectEach(ids, before.keys(), ids.toSorted());
    expect(found).toStrictEqual(found.map((key) => wholeKey(key, before.get(key.id))));
  }

  async function findKey({ keys }: Ports, { id, digest }: ApiKey): Promise<void> {
    const before = kept.keys.get(id);
    const found = await inTime(() => keys.find(digest));
    expect(found).toStrictEqual(found === null ? (before ?? null) : wholeKey(found, before));
  }

  function keyAt(index: number): ApiKey {
    keyOf[index] ??= apiKey();
    return keyOf[index];
  }

  function reads(caller: Caller, count = 1): Calls {
    const { pets, archive } = caller;
    const pages = { ...pets, list: (selection: PetSelection) => inTime(() => pets.list(selection)) };
    const [nextId, nextKey] = [highestOfAll() + 1n, keyAt(next)];
    const ids = [...kept.pets.keys()].slice(-count);
    const records = [...kept.keys.values()].slice(-count);
    return {
      ...Object.fromEntries(ids.map((id) => [`pets.find(${id}n)`, () => findPet(caller, id)])),
      ...Object.fromEntries(records.map((record) => [`keys.find ${record.id}`, () => findKey(caller, record)])),
      // What will be written next.
      'pets.find': () => findPet(caller, nextId),
      'keys.find': () => findKey(caller, nextKey),
      'pets.list': () => readPets(() => everyPage(pages)),
      'pets.list by status': () => readPets(() => everyPage(pages, { status: 'sold' })),
      'keys.list': () => readKeys(caller),
      ...(archive &&
        ({
          'archive.read': () =>
            readPets(async () =>
              (await everyStored(archive)).map(({ createdAt: _, idempotency, ...pet }) => {
                expect(idempotency).toEqual(sent.pets.get(pet.name)?.idempotency);
                return pet;
              }),
            ),
          async 'archive.lastId'() {
            const before = highestOfAll();
            expect(await inTime(() => archive.lastId())).toBeGreaterThanOrEqual(before);
          },
        } satisfies Calls<ArchiveRead>)),
    } satisfies Calls<Read | 'pets.list by status'>;
  }

  async function create({ pets }: Ports, name: string, hasKey: boolean): Promise<void> {
    const newPet = rex({ name, status: 'sold' });
    const idempotency = hasKey ? idempotencyOf(newPet, name) : undefined;
    sent.pets.set(name, { newPet, idempotency });
    const before = highest.get(pets) ?? 0n;
    const pet = await inTime(() => added(pets, newPet, idempotency));
    const id = kept.ids.get(name) ?? pet.id;
    expect(pet).toStrictEqual({ id, ...newPet });
    expect(kept.pets.get(id) ?? pet, 'another pet with this id').toStrictEqual(pet);
    kept.pets.set(id, pet);
    kept.ids.set(name, id);
    if (!hasKey) expect(id, 'an id above those that were acknowledged').toBeGreaterThan(before);
    if (id > (highest.get(pets) ?? 0n)) highest.set(pets, id);
  }

  /** Changes an API key, which has the earlier changes that were acknowledged. */
  async function change(key: ApiKey, member: Partial<ApiKey>, call: () => Promise<unknown>): Promise<void> {
    const { id } = key;
    sent.keys.set(id, { ...(sent.keys.get(id) ?? key), ...member });
    const before = kept.keys.get(id);
    const result = await inTime(call);
    const changed = { ...(kept.keys.get(id) ?? key), ...member };
    if (result !== undefined)
      expect(result).toStrictEqual(wholeKey(result as ApiKey | null, { ...key, ...before, ...member }));
    kept.keys.delete(id);
    kept.keys.set(id, changed);
  }

  function writes(caller: Caller, index = next++): Calls<Write> {
    next = Math.max(next, index + 1);
    const { keys } = caller;
    const key = keyAt(index);
    return {
      'pets.add': () => create(caller, `Rex ${created++}`, false),
      'pets.add with an idempotency key': () => create(caller, `k${index}`, true),
      'keys.add': () => change(key, {}, () => keys.add(key)),
      'keys.recordUse': () => change(key, { lastUsedAt: 7 }, () => keys.recordUse(key.id, 7)),
      'keys.revoke': () => change(key, { revokedAt: 5 }, () => keys.revoke(key.id, 5)),
    };
  }

  async function expectKept(caller: Caller): Promise<void> {
    const { keys } = caller;
    const readAll = () => Promise.all(Object.values(reads(caller, kept.pets.size)).map((call) => patiently(call)));
    await readAll();
    const creations = [...sent.pets].flatMap(([name, { idempotency }]) =>
      idempotency === undefined ? [] : () => create(caller, name, true),
    );
    const changes = [...sent.keys.values()].map((key) => async () => {
      const { revokedAt, lastUsedAt } = key;
      const given = { ...key, revokedAt: null, lastUsedAt: null };
      await change(given, {}, () => keys.add(given));
      if (lastUsedAt !== null) await change(key, { lastUsedAt }, () => keys.recordUse(key.id, lastUsedAt));
      if (revokedAt !== null) await change(key, { revokedAt }, () => keys.revoke(key.id, revokedAt));
    });
    for (let count = 0; count < 2; count += 1)
      await Promise.all([...creations, ...changes].map((call) => patiently(call)));
    await readAll();
  }

  return { reads, writes, expectKept };
}

/**
 * Every call that writes.
 *
 * @param known The index of an API key that was added: a storage may ignore others. `@default none`
 */
export function everyWrite(caller: Caller, calls = portCalls(), known?: number): Calls<Write> {
  const writes = calls.writes(caller);
  const { 'keys.recordUse': recordUse, 'keys.revoke': revoke } =
    known === undefined ? writes : calls.writes(caller, known);
  return { ...writes, 'keys.recordUse': recordUse, 'keys.revoke': revoke };
}

/** Every call that needs the storage, and writes as {@link everyWrite}. */
export const everyCall = (storage: Storage, calls = portCalls(), known?: number): Calls => ({
  ...calls.reads(storage),
  ...everyWrite(storage, calls, known),
  ...readyOf(storage),
});

/** The call that says whether the others work. */
export const readyOf = (storage: Storage): Calls => ({ ready: () => inTime(() => storage.ready()) });
