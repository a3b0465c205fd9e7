// Opening and closing: opening needs nothing, and closing leaves nothing: no connection, no timer, no call.

import { expect, vi } from 'vitest';
import { failureOf, patiently } from './calls.ts';
import { expectNoSecret, expectUnavailable, failuresOf } from './failures.ts';
import { CLOSE_LIMIT } from './limits.ts';
import { runInAnotherProcess } from './other-process.ts';
import { added } from './samples.ts';
import { type StorageUnderTest, testOf } from './storage-under-test.ts';

export function openingContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  test('closes before it was used, twice at once', async () => {
    const storage = await adapter.open(await adapter.freshPlace(), 0);
    await Promise.all([storage.close(), storage.close()]);
  });

  test.for(['close', Symbol.asyncDispose] as const)(
    'is ready at a location of one line, and rejects every call as unavailable after %s, twice at once',
    async (method, { storage, pets }) => {
      expect(await patiently(() => storage.ready())).toBeUndefined();
      const { location, warnings } = storage;
      expect(location).toMatch(/^\S.*$/);
      expectNoSecret(adapter.secrets, { location, warnings });
      await added(pets);
      await Promise.all([storage[method](), storage[method]()]);
      await storage[method]();
      for (const [name, failure] of await failuresOf(storage)) expectUnavailable(name, failure, storage);
    },
  );

  const { inAnotherProcess, proxyOf } = adapter;
  if (inAnotherProcess !== undefined) {
    // There the module is new: in this process an earlier test may have set the timer.
    test('lets the process end once it is closed, and leaves no timer behind', async ({ place }) => {
      const timers = await runInAnotherProcess(inAnotherProcess(place), 'leave');
      expect(timers, 'where timers were set that go on').toBe('');
    });
  }
  if (proxyOf !== undefined) {
    test('closes a connection whose opening gets no response', async ({ place }) => {
      const proxy = proxyOf(place);
      proxy.swallow();
      const storage = await adapter.open(place, 0);
      const call = failureOf(() => storage.ready());
      await vi.waitUntil(() => proxy.connections() > 0, { timeout: CLOSE_LIMIT });
      await storage.close();
      await expect.poll(proxy.connections, { timeout: CLOSE_LIMIT, message: 'connections open after close' }).toBe(0);
      await call;
    });
  }
}
