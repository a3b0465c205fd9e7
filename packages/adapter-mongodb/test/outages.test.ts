import { setTimeout as pause } from 'node:timers/promises';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  behindProxy,
  describeWithMongo,
  freshDatabase,
  type ReplicaSet,
  startReplicaSet,
} from '@animal-store/test-mongodb';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addTo, openStorage, rex } from './fixtures.ts';

const open = (url: string) => openStorage({ url });

describeWithMongo('a server', () => {
  let server: ReplicaSet;
  beforeAll(async () => {
    server = await startReplicaSet(1);
  });
  afterAll(() => server?.stop());

  const member = () => server.members[0] as number;

  test('serves reads although the URL prefers secondaries, and there are none', async () => {
    const storage = open(`${server.url('preferred')}&readPreference=secondary`);
    await storage.ready();
    const added = await addTo(storage.pets, rex);
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toEqual([added]);
  });

  test('serves calls again after it was no member of its set', async () => {
    const storage = open(server.url('alone'));
    await addTo(storage.pets, rex);
    await server.kill(member());
    await server.startAlone(member());
    try {
      // The first calls may end before the driver has seen what the server is now.
      await expect.poll(async () => misconfigurationOf(await failureOf(storage.ready))).toMatch(/standalone/);
    } finally {
      await server.kill(member());
      await server.start(member());
    }
    await expect.poll(() => failureOf(storage.ready), { timeout: 10_000 }).toBeNull();
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toHaveLength(1);
  });
});

describeWithMongo('a network', () => {
  test('has no open connection after the storage was closed, also while it was connecting', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    const early = open(url);
    const ready = failureOf(early.ready);
    await early.close();
    expect(await ready).toMatchObject({ code: 'storage_unavailable' });
    // While the driver looks up the servers of a mongodb+srv URL, it can close nothing.
    const lookup = vi.spyOn(MongoClient.prototype, 'connect').mockImplementation(async function connect(
      this: MongoClient,
    ) {
      await pause(200);
      lookup.mockRestore();
      return this.connect();
    });
    const slow = open(url);
    const found = failureOf(slow.ready);
    await slow.close();
    expect(await found).toMatchObject({ code: 'storage_unavailable' });
    await expect.poll(() => proxy.connections()).toBe(0);
    const storage = open(url);
    await Promise.all(Array.from({ length: 20 }, () => storage.pets.find(1n)));
    expect(await proxy.connections()).toBeGreaterThan(1);
    await storage.close();
    await expect.poll(() => proxy.connections()).toBe(0);
  });
});
