// Settings: a wrong place says what to change, without a secret, beside one that is right. Another place shares nothing.

import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { excuseSlow, patient, patiently } from './calls.ts';
import { expectNoSecret, expectUnavailable, failuresOf, recovered } from './failures.ts';
import { CLOSE_LIMIT } from './limits.ts';
import { added, apiKey, everyKey, everyPage, expectSame, idempotencyOf, rex } from './samples.ts';
import { opened, type StorageUnderTest, testOf } from './storage-under-test.ts';

export function settingsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  const { misconfiguredPlaces } = adapter;
  if (misconfiguredPlaces !== undefined) {
    test('says that settings must change if its place is misconfigured, beside one that is right', async ({
      place,
    }) => {
      await expectClosed(adapter, place, async () => {
        await using right = await adapter.open(place, 0);
        await recovered(() => right.ready());
        for (const wrong of await misconfiguredPlaces(place)) await expectMisconfigured(adapter, wrong);
        await using another = await adapter.open(place, 1);
        for (const each of [right, another]) await recovered(() => each.ready());
      });
    });
  }

  const { twin } = adapter;
  const others = {
    'another place': () => adapter.freshPlace(),
    ...(twin && { 'another place of the same name': (place: Place) => twin.call(adapter, place) }),
  };
  test.for(Object.entries(others))(
    'shares nothing with a storage at %s',
    async ([, otherOf], { place, pets, keys }) => {
      const pet = await added(pets, rex(), idempotencyOf(rex(), 'k1'));
      const record = apiKey();
      await keys.add(record);
      await keys.revoke(record.id, 5);
      expectSame(await pets.find(pet.id), pet);
      expectSame(await keys.find(record.digest), { ...record, revokedAt: 5 });

      const there = patient(await opened(adapter, await otherOf(place)));
      expectSame([await there.pets.find(pet.id), await everyPage(there.pets)], [null, []]);
      expectSame([await there.keys.find(record.digest), await everyKey(there.keys)], [null, []]);
      expect((await there.archive?.lastId()) ?? 0n, 'the last id').toBe(0n);
      const max = rex({ name: 'Max' });
      const created = await added(there.pets, max, idempotencyOf(max, 'k1'));
      await there.keys.add(record);
      expectSame([await everyPage(there.pets), await everyKey(there.keys)], [[created], [record]]);
      expectSame(await there.keys.find(record.digest), record);
      expect((await there.archive?.lastId()) ?? created.id, 'the last id').toBeGreaterThanOrEqual(created.id);
      expectSame(await everyPage(pets), [pet]);
    },
  );
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
  const isExcused = excuseSlow();
  for (let openings = 0; openings < 5; openings += 1)
    await patiently(async () => {
      const begin = performance.now();
      for (const [name, failure] of await failuresOf(storage)) {
        expectUnavailable(name, failure, storage);
        expectNoSecret(adapter.secrets, failure);
        // A place that is slow has not said yet what is wrong.
        if (!StorageMisconfigured.is(failure?.cause) && isExcused(begin)) throw failure;
        expectLine(failure?.cause);
      }
    }, isExcused);
  await storage.close();
}

/** Expects that storages which are opened and closed meanwhile leave no connection open. */
export async function expectClosed<Place>(
  { proxyOf }: StorageUnderTest<Place>,
  place: Place,
  work: () => Promise<void>,
): Promise<void> {
  const connections = () => proxyOf?.(place).connections() ?? 0;
  // The author may have some at the same proxy.
  const before = connections();
  await work();
  await expect
    .poll(connections, { timeout: CLOSE_LIMIT, message: 'connections open after close' })
    .toBeLessThanOrEqual(before);
}
