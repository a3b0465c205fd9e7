import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiKey, NewPet, Pet } from '@animal-store/domain';
import { type Idempotency, type PetStorage, type PetStore, StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CallName, everyCall, expectNoSecret, expectUnavailable, failureOf } from './calls.ts';
import { added, apiKey, everyPage, idempotencyOf, rex } from './samples.ts';
import { type Outage, type Outages, opened, type StorageUnderTest } from './storage-under-test.ts';

/** How long a storage may need to work again, in milliseconds. */
const RECOVERY_LIMIT = 15_000;

/** Calls at once in the tests of interruptions: more than a pool has connections. */
const CALLERS = 20;

/**
 * When outages begin, each of a storage of its own: after so many acknowledged calls, and so large a part of a call later. Calls
 * that share a transaction are all at the same of its statements. A short outage ends at once, a long one once all callers fail.
 */
const TIMINGS = Array.from({ length: 8 }, (_, index) => ({
  afterCalls: index ** 2,
  part: index / 8,
  isShort: index % 2 === 1,
}));

/** Waits until a storage works, after an outage or among many. */
async function recovered(storage: PetStorage): Promise<void> {
  const works = async () => (await failureOf(() => storage.ready())) === null;
  await vi.waitUntil(works, { timeout: RECOVERY_LIMIT, interval: 50 });
}

/** A new place, and a storage that works there. */
async function readyPlace<Place>(adapter: StorageUnderTest<Place>) {
  const place = await adapter.freshPlace();
  const storage = await opened(adapter, place);
  await recovered(storage);
  return { place, storage };
}

/** All pets, each of which has the status `sold`: a list by status must have the same. */
async function everyPet({ pets }: PetStorage): Promise<Pet[]> {
  const stored = await everyPage(pets);
  expect(await everyPage(pets, { status: 'sold' })).toStrictEqual(stored);
  return stored;
}

/** The behaviour of a storage during its outages, and afterwards. */
export function outageContract<Place>(adapter: StorageUnderTest<Place>, outages: Outages<Place>): void {
  describe('in an outage', () => {
    test('ends every call and closes within 5 seconds, is unavailable or finds all that exists', () =>
      inEach(adapter, outages, async (interruption) => {
        const { storage } = interruption;
        await expectOnlyReads(adapter, interruption);
        const inFlight = Object.values(everyCall(storage)).map(failureOf);
        expect(await failureOf(() => storage.close())).toBeNull();
        await Promise.all(inFlight);
      }));
  });

  describe('after an outage', () => {
    test('works again, with all that it acknowledged, as does a storage that was opened meanwhile', () =>
      inEach(adapter, outages, async ({ place, storage, pet, end }) => {
        const sold = rex({ status: 'sold' });
        const idempotency = idempotencyOf(sold, 'k1');
        const opening = await opened(adapter, place);
        const calls = [() => added(storage.pets, sold, idempotency), () => storage.ready(), () => opening.ready()];
        // More than a pool has connections; each failure could lose one.
        const many = Array.from({ length: 100 }, () => () => storage.keys.add(apiKey()));
        for (const failure of await Promise.all([...calls, ...many].map(failureOf)))
          expectUnavailable(failure, storage);
        await end();
        await recovered(storage);
        await recovered(opening);
        for (const call of many) expect(await failureOf(call)).toBeNull();
        // The lost call may have been executed or not.
        const repeated = await added(storage.pets, sold, idempotency);
        expect(await added(opening.pets, sold, idempotency)).toStrictEqual(repeated);
        const last = await added(storage.pets, sold);
        expect(last.id).toBeGreaterThan(repeated.id);
        for (const each of [storage, opening]) expect(await everyPet(each)).toStrictEqual([pet, repeated, last]);
        const silentConnections = () => adapter.proxyOf?.(place).silentConnections() ?? 0;
        await expect.poll(silentConnections, { timeout: RECOVERY_LIMIT, message: 'replaced, but not closed' }).toBe(0);
      }));

    test('keeps acknowledged pets, one for each idempotency key, through long and short outages', async () => {
      for (const outage of Object.values(outages)) {
        // At once, which takes a pool of connections for each.
        await Promise.all(TIMINGS.map((timing) => expectAllKept(adapter, outage, timing)));
      }
    });
  });
}

/** A storage that was used before its outage. */
interface Interruption<Place> {
  readonly place: Place;
  readonly storage: PetStorage;
  /** The only pet, and the only key. */
  readonly pet: Pet;
  readonly key: ApiKey;
  /** Ends the outage, as does the end of the test. */
  end(): Promise<void>;
}

/** Runs a check in each outage, all at the same time, because it waits most of the time. A failure begins with the outage's name. */
async function inEach<Place, Way extends Outage<Place>>(
  adapter: StorageUnderTest<Place>,
  outages: Readonly<Record<string, Way>>,
  check: (interruption: Interruption<Place>, outage: Way) => Promise<void>,
): Promise<void> {
  const checks = Object.entries(outages).map(async ([name, outage]) => {
    let stage = `before ${name}`;
    try {
      const { place, storage } = await readyPlace(adapter);
      const pet = await added(storage.pets, rex({ status: 'sold' }));
      const key = apiKey();
      await storage.keys.add(key);
      stage = name;
      await check({ place, storage, pet, key, end: await beginOutage(outage, place) }, outage);
    } catch (error) {
      (error as Error).message = `${stage}: ${(error as Error).message}`;
      throw error;
    }
  });
  // All have ended before a failure is thrown: a check that goes on would use what the end of the test removes.
  await Promise.allSettled(checks);
  await Promise.all(checks);
}

/** Begins an outage, which the returned function ends, or the end of the test. */
async function beginOutage<Place>(outage: Outage<Place>, place: Place): Promise<() => Promise<void>> {
  let ending: Promise<void> | null = null;
  const end = async () => {
    ending ??= (async () => outage.end(place))();
    await ending;
  };
  onTestFinished(end);
  await outage.begin(place);
  return end;
}

/** The behaviour of an open storage while its place is lost, and afterwards. */
export function lossContract<Place>(
  adapter: StorageUnderTest<Place>,
  losses: NonNullable<StorageUnderTest<Place>['losses']>,
): void {
  test('notices that its place was lost while it runs, and works again once it is back', () =>
    inEach(adapter, losses, async (interruption, loss) => {
      const { place, storage, pet, key, end } = interruption;
      // Creations may be acknowledged until the storage has looked.
      expectUnavailable(await failureOf(() => storage.ready()), storage);
      if (loss.line !== undefined)
        await expect.poll(() => lineOf(storage), { timeout: RECOVERY_LIMIT }).toMatch(loss.line);
      await expectOnlyReads(adapter, interruption);
      adapter.proxyOf?.(place).pass();
      await expectOnlyReads(adapter, interruption);
      // The calls before may have found their connections closed.
      await expectOnlyReads(adapter, interruption);
      await end();
      await recovered(storage);
      const next = await added(storage.pets, rex({ status: 'sold' }));
      expect(next.id).toBeGreaterThan(pet.id);
      expect(await everyPet(storage)).toStrictEqual([pet, next]);
      expect(await storage.keys.list()).toStrictEqual([key]);
    }));
}

/** What the operator reads of a storage that is not ready. */
async function lineOf({ ready }: PetStorage): Promise<string> {
  const { cause } = (await failureOf(ready)) ?? {};
  return StorageMisconfigured.is(cause) ? cause.message : '';
}

/** Calls that can't succeed during an outage. */
const WRITES: readonly CallName[] = [
  ...(['pets.add', 'pets.add with an idempotency key', 'keys.add', 'keys.revoke', 'keys.prune', 'ready'] as const),
];

/** Expects that each call is unavailable, or a read that finds all that exists. */
async function expectOnlyReads<Place>(
  adapter: StorageUnderTest<Place>,
  { storage, pet, key }: Interruption<Place>,
): Promise<void> {
  const { pets, keys } = storage;
  // Reads may still succeed.
  const reads: Partial<Record<CallName, () => Promise<void>>> = {
    'pets.find': async () => expect(await pets.find(pet.id)).toEqual(pet),
    'pets.list': async () => expect(await pets.list({ after: 0n, limit: 20 })).toEqual([pet]),
    'pets.list by status': async () => expect(await pets.list({ after: 0n, limit: 20, status: 'sold' })).toEqual([pet]),
    'keys.find': async () => expect(await keys.find(key.digest)).toEqual(key),
    'keys.list': async () => expect(await keys.list()).toEqual([key]),
  };
  // Several times each: calls may wait for each other.
  const calls = Array.from({ length: 10 }, () => Object.entries({ ...everyCall(storage), ...reads })).flat();
  const failures = await Promise.all(calls.map(async ([name, call]) => [name, await failureOf(call)] as const));
  for (const [name, failure] of failures) {
    if (WRITES.includes(name as CallName)) expect(failure, name).not.toBeNull();
    if (failure !== null) expectUnavailable(failure, storage);
    expectNoSecret(adapter.secrets, failure);
  }
  // For the operator. Calls that wait for others may have none.
  const causes = failures.map(([, failure]) => failure?.cause);
  expect(causes, 'causes').toContainEqual(expect.any(Error));
}

/** Expects that a storage which is interrupted amid creations works again, with all that it acknowledged. */
async function expectAllKept<Place>(
  adapter: StorageUnderTest<Place>,
  outage: Outage<Place>,
  timing: (typeof TIMINGS)[number],
): Promise<void> {
  const { place, storage } = await readyPlace(adapter);
  const { pets } = storage;
  const { sent, acknowledged } = await interruptCreations(pets, () => beginOutage(outage, place), timing);
  await recovered(storage);
  // A call may be the first one on a connection that its outage has left silent.
  const eventually = <Result>(call: () => Promise<Result>) => vi.waitFor(call, { timeout: RECOVERY_LIMIT });
  for (const pet of acknowledged) expect(await eventually(() => pets.find(pet.id))).toStrictEqual(pet);
  const withKey = sent.filter(([, idempotency]) => idempotency !== undefined);
  const repeated = await Promise.all(withKey.map((creation) => eventually(() => added(pets, ...creation))));
  const stored = await everyPet(storage);
  expect(stored).toEqual(expect.arrayContaining(repeated));
  expect(new Set(stored.map(({ name }) => name)).size).toBe(stored.length);
}

/**
 * Creates pets, begins an outage amid the calls and ends it. Returns what was sent and what was acknowledged.
 *
 * @param beginNow Resolves to the end of the outage.
 */
async function interruptCreations(
  pets: PetStore,
  beginNow: () => Promise<() => Promise<void>>,
  { afterCalls, part, isShort }: (typeof TIMINGS)[number],
) {
  const sent: (readonly [NewPet, Idempotency | undefined])[] = [];
  const acknowledged: Pet[] = [];
  let lastDuration = 0;
  let isOver = false;

  /** Creates pets until a call fails, or until it is over. Every other pet has an idempotency key. */
  async function createMany(): Promise<void> {
    for (let failure = null; failure === null && !isOver; ) {
      const index = sent.length;
      const newPet = rex({ name: `Rex ${index}`, status: 'sold' });
      const creation = [newPet, index % 2 === 0 ? idempotencyOf(newPet, `k${index}`) : undefined] as const;
      sent.push(creation);
      const begin = performance.now();
      failure = await failureOf(async () => acknowledged.push(await added(pets, ...creation)));
      lastDuration = performance.now() - begin;
    }
  }
  const creations = Promise.all(Array.from({ length: CALLERS }, createMany)).finally(() => {
    isOver = true;
  });

  while (acknowledged.length < afterCalls && !isOver) await nextTurn();
  // A timer would last longer than the call.
  const begin = performance.now() + part * lastDuration;
  while (performance.now() < begin) await nextTurn();
  const end = await beginNow();
  if (isShort) {
    await end();
    isOver = true;
  }
  await creations;
  await end();
  return { sent, acknowledged };
}
