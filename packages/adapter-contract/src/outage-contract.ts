import type { ApiKey, Pet } from '@animal-store/domain';
import { type PortMethod, type Storage, StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { atOnce, CLOSE_LIMIT, everyCall, expectNoSecret, expectUnavailable, failureOf, failuresOf } from './calls.ts';
import { expectAllKept, expectNoWriteAfterFailure } from './interrupted-creations.ts';
import { everyPet, inEach, RECOVERY_LIMIT, recovered } from './interruption.ts';
import { createInAnotherProcess } from './other-process.ts';
import { added, apiKey, everyKey, everyPage, idempotencyOf, inOrderOfKeyIds, rex } from './samples.ts';
import { type Loss, type Outage, type Outages, opened, type StorageUnderTest } from './storage-under-test.ts';

/** The behaviour of a storage during its outages, and afterwards. */
export function outageContract<Place>(adapter: StorageUnderTest<Place>, outages: Outages<Place>): void {
  describe('in an outage', () => {
    test('ends every call within 2.5 seconds, is unavailable or finds all that exists, and closes within 5 seconds', () =>
      inEach(adapter, Object.entries(outages), async (interruption) => {
        const { place, storage, pet, key, begin } = interruption;
        // What this storage has read, another one changes.
        for (const read of Object.values(readsOf(storage, pet.id + 1n, key))) await read();
        const other = await opened(adapter, place);
        await recovered(other);
        const stored = [pet, await added(other.pets, rex({ status: 'sold' }))];
        const revoked = (await other.keys.revoke(key.id, 5)) as ApiKey;
        await other.close();
        await begin();
        await expectOnlyReads(adapter, storage, stored, revoked);
        const inFlight = failuresOf(everyCall(storage));
        expect(await failureOf(() => storage.close(), CLOSE_LIMIT)).toBeNull();
        for (const [name, failure] of await inFlight) if (failure !== null) expectUnavailable(name, failure, storage);
      }));

    const { inAnotherProcess } = adapter;
    if (inAnotherProcess !== undefined) {
      test('keeps another process alive until its creation has a result or is unavailable, and then lets it end', () =>
        inEach(adapter, Object.entries(outages), async ({ place, begin }) => {
          await begin();
          const end = await createInAnotherProcess(inAnotherProcess(place), 'Rex');
          expect(['Rex', 'storage_unavailable']).toContain(end);
        }));
    }
  });

  const { proxyOf } = adapter;
  if (proxyOf !== undefined) {
    test('begins no write once its call has failed between two responses, and leaves no half of a creation', () => {
      const delays = [750, 900, 1_000];
      const slow: Outage<Place> = { begin: () => {}, end: (place) => proxyOf(place).pass() };
      const each = delays.map((delay) => [`each response after ${delay} ms`, slow] as const);
      return inEach(adapter, each, (interruption, _, index) =>
        expectNoWriteAfterFailure(interruption, proxyOf(interruption.place), delays[index] as number),
      );
    });

    /** Runs a call whose connection breaks after each of 1 to 8 chunks. */
    const interrupted = async (
      call: (storage: Storage, chunks: number) => Promise<unknown>,
      prepare: (storage: Storage) => unknown = () => {},
    ) => {
      const place = await adapter.freshPlace();
      const storage = await opened(adapter, place);
      await recovered(storage);
      await prepare(storage);
      for (let chunks = 1; chunks <= 8; chunks += 1) {
        await recovered(storage);
        const amid = proxyOf(place).afterChunks(chunks);
        const ended = failureOf(() => call(storage, chunks));
        await Promise.race([ended, amid]);
        proxyOf(place).cut();
        // New connections work at once: an adapter may be tempted to try again.
        proxyOf(place).pass();
        await ended;
      }
      await recovered(storage);
      return storage;
    };

    test('creates a pet without an idempotency key once at most, wherever its connection breaks', async () => {
      const { pets } = await interrupted(({ pets }, chunks) => added(pets, rex({ name: `Rex ${chunks}` })));
      const names = (await everyPage(pets)).map(({ name }) => name);
      expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
    });

    test('lists an API key if its creation is repeated, wherever its connection broke', async () => {
      const records = Array.from({ length: 9 }, () => apiKey());
      const { keys } = await interrupted(({ keys }, chunks) => keys.add(records[chunks] as ApiKey));
      for (const record of records) await keys.add(record);
      expect(await everyKey(keys)).toStrictEqual(inOrderOfKeyIds(records));
    });

    test('finds and lists an API key with its revocation, or rejects, wherever its connection breaks', async () => {
      const record = apiKey();
      const revoke = async ({ keys }: Storage) => {
        await keys.add(record);
        await keys.revoke(record.id, 5);
      };
      for (const read of [({ keys }: Storage) => keys.find(record.digest), ({ keys }: Storage) => everyKey(keys)]) {
        const found: unknown[] = [];
        await interrupted(async (storage) => found.push(await read(storage)), revoke);
        expect(found.flat()).toStrictEqual(found.map(() => ({ ...record, revokedAt: 5 })));
      }
    });
  }

  describe('after an outage', () => {
    test('works again, with all that it acknowledged, as does a storage that was opened meanwhile', () =>
      inEach(adapter, Object.entries(outages), async ({ place, storage, pet, begin, end }) => {
        await begin();
        const sold = rex({ status: 'sold' });
        const idempotency = idempotencyOf(sold, 'k1');
        const opening = await opened(adapter, place);
        // More than a pool has connections; each failure could lose one.
        const many = Array.from({ length: 100 }, () => apiKey());
        const calls = {
          'pets.add': () => added(storage.pets, sold, idempotency),
          ready: () => storage.ready(),
          'ready of the other storage': () => opening.ready(),
          ...Object.fromEntries(many.map((key) => [`keys.add ${key.id}`, () => storage.keys.add(key)])),
        };
        for (const [name, failure] of await failuresOf(calls)) expectUnavailable(name, failure, storage);
        await end();
        await recovered(storage);
        await recovered(opening);
        for (const key of many) expect(await failureOf(() => storage.keys.add(key))).toBeNull();
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
      for (const outage of Object.entries(outages)) {
        // All at once, which takes a pool of connections for each.
        const timings = Array.from({ length: 8 }, () => outage);
        await inEach(adapter, timings, (interruption, _, timing) => expectAllKept(adapter, interruption, timing));
      }
    });
  });
}

/** The behaviour of an open storage while its place is lost, and afterwards. */
export function lossContract<Place>(
  adapter: StorageUnderTest<Place>,
  losses: Readonly<Record<string, Loss<Place>>>,
): void {
  test('notices that its place was lost while it runs, and works again once it is back', () =>
    inEach(adapter, Object.entries(losses), async (interruption, { line }) => {
      const { place, storage, pet, key, begin, end } = interruption;
      await begin();
      // Creations may be acknowledged until the storage has looked.
      expectUnavailable('ready', await failureOf(() => storage.ready()), storage);
      const readLine = async () => {
        const cause = await causeOf(storage);
        return StorageMisconfigured.is(cause) ? cause.message : `no StorageMisconfigured, but ${cause}`;
      };
      if (line !== undefined) await expect.poll(readLine, { timeout: RECOVERY_LIMIT }).toMatch(line);
      const expectReads = () => expectOnlyReads(adapter, storage, [pet], key);
      await expectReads();
      adapter.proxyOf?.(place).pass();
      await expectReads();
      // The calls before may have found their connections closed.
      await expectReads();
      await end();
      await recovered(storage);
      const next = await added(storage.pets, rex({ status: 'sold' }));
      expect(next.id).toBeGreaterThan(pet.id);
      expect(await everyPet(storage)).toStrictEqual([pet, next]);
      expect(await everyKey(storage.keys)).toStrictEqual([key]);
    }));
}

/** What the operator reads of a storage that is not ready. */
async function causeOf(storage: Storage): Promise<unknown> {
  return (await failureOf(() => storage.ready()))?.cause;
}

/** Whether a method may return in an outage: those that read may. */
const MAY_RETURN = {
  'pets.add': false,
  'pets.find': true,
  'pets.list': true,
  'keys.add': false,
  'keys.find': true,
  'keys.list': true,
  'keys.revoke': false,
  // The use of an unknown key may be ignored.
  'keys.recordUse': true,
} satisfies Record<PortMethod, boolean>;

/** Reads of all pets and API keys of a place with few, and of one of each. */
function readsOf({ pets, keys }: Storage, id: bigint, { digest }: ApiKey) {
  const page = { after: 0n, limit: 20 };
  return {
    'pets.find': () => pets.find(id),
    'pets.list': () => pets.list(page),
    'pets.list by status': () => pets.list({ ...page, status: 'sold' }),
    'keys.find': () => keys.find(digest),
    'keys.list': () => everyKey(keys),
  };
}

/** Expects that each call is unavailable, or a read that finds all that exists. */
async function expectOnlyReads<Place>(
  { secrets }: StorageUnderTest<Place>,
  storage: Storage,
  stored: readonly Pet[],
  key: ApiKey,
): Promise<void> {
  const last = stored.at(-1) as Pet;
  const reads = readsOf(storage, last.id, key);
  const results = {
    'pets.find': last,
    'pets.list': stored,
    'pets.list by status': stored,
    'keys.find': key,
    'keys.list': [key],
  } satisfies Record<keyof typeof reads, unknown>;
  const expectResult = ([name, result]: [string, unknown]) => {
    return [name, async () => expect(await reads[name as keyof typeof reads]()).toEqual(result)];
  };
  const calls = { ...everyCall(storage), ...Object.fromEntries(Object.entries(results).map(expectResult)) };
  // Several times each: calls may wait for each other.
  const failures = await atOnce(10, () => failuresOf(calls));
  for (const [name, failure] of failures.flat()) {
    const [method] = name.split(' ');
    if (failure !== null || !MAY_RETURN[method as PortMethod]) expectUnavailable(name, failure, storage);
    expectNoSecret(secrets, failure);
  }
  // A call that waits for others may have none.
  const message = 'the cause of `storage_unavailable`, for the operator';
  await expect.poll(() => causeOf(storage), { timeout: RECOVERY_LIMIT, message }).toBeInstanceOf(Error);
}
