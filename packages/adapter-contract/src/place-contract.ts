import { setTimeout as sleep } from 'node:timers/promises';
import { type Storage, StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, onTestFinished, vi } from 'vitest';
import { expectNoSecret, expectUnavailable, failureOf, failuresOf, recovered } from './calls.ts';
import { CLOSE_LIMIT } from './limits.ts';
import { timersInAnotherProcess } from './other-process.ts';
import { added, apiKey, everyKey, everyPage, idempotencyOf, inOrderOfKeyIds, rex } from './samples.ts';
import { opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

const TEN_YEARS = 10 * 365 * 24 * 3_600_000;

/** Opening and closing storages, one after the other. */
export function placeContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  test('is ready once it is opened, at a location of one line', async ({ storage }) => {
    const { location, warnings } = storage;
    expect(await storage.ready()).toBeUndefined();
    expect(location).toMatch(/^\S.*$/);
    expectNoSecret(adapter.secrets, { location, warnings });
  });

  test('can be closed before it was used, twice, and at once', async () => {
    for (const use of [() => {}, (storage: Storage) => storage.ready()]) {
      const storage = await adapter.open(await adapter.freshPlace());
      await use(storage);
      await Promise.all([storage.close(), storage.close()]);
      await storage.close();
    }
  });

  test.for(['close', Symbol.asyncDispose] as const)(
    'rejects every call as unavailable after %s',
    async (method, { place, storage }) => {
      const pet = await added(storage.pets);
      await storage[method]();
      for (const [name, failure] of await failuresOf(storage)) expectUnavailable(name, failure, storage);
      expect(await everyPage((await opened(adapter, place)).pets)).toEqual([pet]);
    },
  );

  test('keeps pets, idempotency keys and API keys for years, and assigns higher ids when opened again', async ({
    place,
    storage,
  }) => {
    const sold = rex({ status: 'sold' });
    const idempotency = idempotencyOf(sold, 'k1');
    const first = await added(storage.pets, sold, idempotency);
    const created = [first, await added(storage.pets, rex({ status: 'available' })), await added(storage.pets)];
    const [used, revoked] = [apiKey({ createdAt: 1 }), apiKey({ createdAt: 2, expiresAt: 3 })];
    for (const record of [used, revoked]) await storage.keys.add(record);
    await storage.keys.recordUse(used.id, 5);
    await storage.keys.revoke(revoked.id, 10);
    await storage.close();

    await adapter.operator?.expire?.(place);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + TEN_YEARS });
    const { pets, keys } = await opened(adapter, place);
    expect(await pets.add(sold, idempotency)).toStrictEqual({ pet: first, created: false });
    const max = rex({ name: 'Max' });
    expect(await pets.add(max, idempotencyOf(max, 'k1'))).toBeNull();
    expect(await everyPage(pets)).toStrictEqual(created);
    expect(await everyPage(pets, { status: 'sold' })).toStrictEqual([first]);
    for (const pet of created) expect(await pets.find(pet.id)).toStrictEqual(pet);
    expect((await added(pets)).id).toBeGreaterThan(created[2]?.id as bigint);
    const records = [
      { ...used, lastUsedAt: 5 },
      { ...revoked, revokedAt: 10 },
    ];
    expect(await everyKey(keys)).toStrictEqual(inOrderOfKeyIds(records));
    for (const record of records) expect(await keys.find(record.digest)).toStrictEqual(record);
  });

  const { twin } = adapter;
  const others = {
    'another place': () => adapter.freshPlace(),
    ...(twin && { 'another place of the same name': (place: Place) => twin.call(adapter, place) }),
  };
  for (const [name, otherOf] of Object.entries(others)) {
    test(`shares nothing with one at ${name}`, async ({ place, storage: { pets, keys } }) => {
      const pet = await added(pets, rex(), idempotencyOf(rex(), 'k1'));
      const record = apiKey();
      await keys.add(record);
      await keys.revoke(record.id, 5);
      expect(await pets.find(pet.id)).toStrictEqual(pet);
      expect(await keys.find(record.digest)).toStrictEqual({ ...record, revokedAt: 5 });

      const other = await opened(adapter, await otherOf(place));
      await recovered(other);
      expect(await other.pets.find(pet.id)).toBeNull();
      expect(await everyPage(other.pets)).toEqual([]);
      expect(await other.keys.find(record.digest)).toBeNull();
      expect(await everyKey(other.keys)).toEqual([]);
      expect((await other.archive?.lastId()) ?? 0n, 'the last id').toBe(0n);
      const max = rex({ name: 'Max' });
      const created = await added(other.pets, max, idempotencyOf(max, 'k1'));
      await other.keys.add(record);
      expect(await everyPage(other.pets)).toStrictEqual([{ ...max, id: created.id }]);
      expect((await other.archive?.lastId()) ?? created.id, 'the last id').toBeGreaterThanOrEqual(created.id);
      expect(await other.keys.find(record.digest)).toStrictEqual(record);
      expect(await everyPage(pets)).toStrictEqual([pet]);
    });
  }

  test('lets the process end once it is closed', async ({ place }) => {
    // What is open after the second storage: by Vitest, and by a driver that keeps some until then.
    let before: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      const storage = await adapter.open(place);
      await added(storage.pets);
      await storage.close();
      if (count === 1) before = process.getActiveResourcesInfo();
    }
    const countOf = (type: string, types: readonly string[]) => types.filter((each) => each === type).length;
    /** The types of which there are more than before. */
    const left = () =>
      process.getActiveResourcesInfo().filter((type, _, now) => countOf(type, now) > countOf(type, before));
    // Not `expect.poll`, which has timers of its own.
    const end = performance.now() + CLOSE_LIMIT;
    while (left().length > 0 && performance.now() < end) await sleep(20);
    expect(left()).toEqual([]);
  });

  const { inAnotherProcess } = adapter;
  if (inAnotherProcess !== undefined) {
    // There the module is new: in this process an earlier test may have set the timer.
    test('leaves no timer behind once it is closed, also none that keeps no process alive', async ({ place }) => {
      const timers = await timersInAnotherProcess(inAnotherProcess(place));
      expect(timers.join('\n'), 'where timers were set that go on').toBe('');
    });
  }

  const { proxyOf, misconfiguredPlaces } = adapter;
  if (proxyOf !== undefined) {
    test('closes a connection whose opening gets no response', async ({ place }) => {
      const proxy = proxyOf(place);
      proxy.swallow();
      const storage = await adapter.open(place);
      const call = failureOf(() => storage.ready());
      await vi.waitUntil(async () => (await proxy.connections()) > 0, { timeout: CLOSE_LIMIT });
      await storage.close();
      await expect.poll(proxy.connections, { timeout: CLOSE_LIMIT, message: 'open after close' }).toBe(0);
      await call;
    });
  }

  if (misconfiguredPlaces !== undefined) {
    test('says that settings must change if its place is misconfigured, beside one that is right', async ({
      place,
    }) => {
      await expectClosed(adapter, place, async () => {
        await using right = await adapter.open(place);
        await recovered(right);
        for (const wrong of await misconfiguredPlaces(place)) await expectMisconfigured(adapter, wrong);
        await using another = await adapter.open(place);
        for (const each of [right, another]) await recovered(each);
      });
    });
  }
}

/** Expects that opening a place or every call fails with one line for the operator. */
export async function expectMisconfigured<Place>(adapter: StorageUnderTest<Place>, place: Place): Promise<void> {
  const expectLine = (error: unknown) => {
    expect(StorageMisconfigured.is(error), `a StorageMisconfigured, instead of ${error}`).toBe(true);
    expect((error as Error).message).toMatch(/^\S.*$/);
    expectNoSecret(adapter.secrets, error);
  };
  const storage = await opened(adapter, place).catch(expectLine);
  if (storage === undefined) return;
  for (let openings = 0; openings < 5; openings += 1) {
    for (const [name, failure] of await failuresOf(storage)) {
      expectUnavailable(name, failure, storage);
      expectNoSecret(adapter.secrets, failure);
      expectLine(failure?.cause);
    }
  }
  await storage.close();
}

/** Expects that storages which are opened and closed meanwhile leave no connection open. */
export async function expectClosed<Place>(
  { proxyOf }: StorageUnderTest<Place>,
  place: Place,
  work: () => Promise<void>,
): Promise<void> {
  const connections = async () => proxyOf?.(place).connections() ?? 0;
  // The author may have some at the same proxy.
  const before = await connections();
  await work();
  await expect.poll(connections, { timeout: CLOSE_LIMIT, message: 'open after close' }).toBeLessThanOrEqual(before);
}
