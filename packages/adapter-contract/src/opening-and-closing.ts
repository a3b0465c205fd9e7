// Opening and closing: opening needs nothing, and closing leaves nothing: no connection, no timer, no call.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '@animal-store/domain/ports';
import { expect, vi } from 'vitest';
import { expectNoSecret, expectUnavailable, failureOf, failuresOf, patient, patiently } from './calls.ts';
import { CLOSE_LIMIT } from './limits.ts';
import { timersInAnotherProcess } from './other-process.ts';
import { added, everyPage, expectSame } from './samples.ts';
import { portsAt, type StorageUnderTest, testOf } from './storage-under-test.ts';

export function openingContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  test('is ready once it is opened, at a location of one line', async ({ storage }) => {
    const { location, warnings } = storage;
    expect(await patiently(() => storage.ready())).toBeUndefined();
    expect(location).toMatch(/^\S.*$/);
    expectNoSecret(adapter.secrets, { location, warnings });
  });

  test('closes before it was used, twice, and at once', async () => {
    for (const use of [() => {}, (storage: Storage) => patiently(() => storage.ready())]) {
      const storage = await adapter.open(await adapter.freshPlace(), 0);
      await use(storage);
      await Promise.all([storage.close(), storage.close()]);
      await storage.close();
    }
  });

  test.for(['close', Symbol.asyncDispose] as const)(
    'rejects every call as unavailable after %s',
    async (method, { place, storage, pets }) => {
      const pet = await added(pets);
      await storage[method]();
      for (const [name, failure] of await failuresOf(storage)) expectUnavailable(name, failure, storage);
      expectSame(await everyPage((await portsAt(adapter, place)).pets), [pet]);
    },
  );

  test('lets the process end once it is closed', async ({ place }) => {
    // What is open after the second storage: by Vitest, and by a driver that keeps some until then.
    let before: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      const storage = await adapter.open(place, 0);
      await added(patient(storage.pets));
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
    expect(left().join(', '), 'what keeps the process alive').toBe('');
  });

  const { inAnotherProcess, proxyOf } = adapter;
  if (inAnotherProcess !== undefined) {
    // There the module is new: in this process an earlier test may have set the timer.
    test('leaves no timer behind once it is closed, also none that keeps no process alive', async ({ place }) => {
      const timers = await timersInAnotherProcess(inAnotherProcess(place));
      expect(timers.join('\n'), 'where timers were set that go on').toBe('');
    });
  }
  if (proxyOf !== undefined) {
    test('closes a connection whose opening gets no response', async ({ place }) => {
      const proxy = proxyOf(place);
      proxy.swallow();
      const storage = await adapter.open(place, 0);
      const call = failureOf(() => storage.ready());
      await vi.waitUntil(async () => (await proxy.connections()) > 0, { timeout: CLOSE_LIMIT });
      await storage.close();
      await expect.poll(proxy.connections, { timeout: CLOSE_LIMIT, message: 'connections open after close' }).toBe(0);
      await call;
    });
  }
}
