import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '@animal-store/domain';
import {
  behindProxy,
  databaseAt,
  describeWithContainers,
  freshDatabase,
  type ReplicaSet,
  startReplicaSet,
} from '@animal-store/test-mongodb';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type MongoStorage, TIME_LIMITS } from '../src/index.ts';
import { addTo, failureOf, idempotent, misconfigurationOf, openStorage, rex } from './fixtures.ts';

const create = idempotent('k1');

/** A call of 4 s has 5 s: the rest is for a busy machine. In milliseconds. */
const TOLERANCE = 1_000;

const open = (url: string) => openStorage({ url });

/** Every method that needs the server, called several times at once, is `storage_unavailable` within its time limit. */
async function expectUnavailable({ pets, keys, ready, createRateLimiter }: MongoStorage): Promise<void> {
  const limiter = createRateLimiter({ limit: 1, window: 60_000 });
  const started = performance.now();
  const calls = Array.from({ length: 10 }, (_, index) => [
    addTo(pets, rex),
    addTo(pets, rex, idempotent(`lost ${index}`)),
    pets.find(1n),
    pets.list({ after: 0n, limit: 20 }),
    pets.list({ status: 'sold', after: 0n, limit: 20 }),
    keys.find(String(index).repeat(64)),
    keys.list(),
    keys.revoke('a', 1),
    keys.recordUse('a', 1),
    ready(),
    limiter.take('the zoo'),
  ]);
  const ends = await Promise.all(
    calls.flat().map(async (call) => {
      const error = await Promise.resolve(call).then(
        (value) => value,
        (failure: unknown) => failure,
      );
      expect(error).toBeInstanceOf(DomainError);
      expect(error).toMatchObject({ code: 'storage_unavailable' });
      return performance.now() - started;
    }),
  );
  expect(Math.max(...ends)).toBeLessThan(TIME_LIMITS.call + TOLERANCE);
}

/** The storage works again by itself, as a client notices that retries. */
async function expectHealing({ pets, ready }: MongoStorage): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      await ready();
      break;
    } catch (error) {
      expect(error).toMatchObject({ code: 'storage_unavailable' });
      if (performance.now() - started > 10_000) throw error;
    }
  }
  const added = await addTo(pets, rex);
  expect(await pets.find(added?.id ?? 0n)).toEqual(added);
}

describeWithContainers('a server', () => {
  let server: ReplicaSet;
  beforeAll(async () => {
    server = await startReplicaSet(1);
  });
  afterAll(() => server?.stop());

  const member = () => server.members[0] as number;

  test('that is killed and started again', async () => {
    const storage = open(server.url('killed'));
    await addTo(storage.pets, rex);
    await server.kill(member());
    await expectUnavailable(storage);
    // One that is opened meanwhile is none the worse for it.
    const later = open(server.url('killed'));
    await expectUnavailable(later);
    await server.start(member());
    await expectHealing(storage);
    await expectHealing(later);
    expect(await later.pets.list({ after: 0n, limit: 9 })).toHaveLength(3);
  });

  test('without secondaries, which the URL prefers', async () => {
    const storage = open(`${server.url('preferred')}&readPreference=secondary`);
    await storage.ready();
    const added = await addTo(storage.pets, rex);
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toEqual([added]);
  });

  test('that is no member of its set for a while', async () => {
    const storage = open(server.url('alone'));
    await addTo(storage.pets, rex);
    await server.kill(member());
    await server.startAlone(member());
    try {
      await expectUnavailable(storage);
      // The first calls may end before the driver has seen what the server is now.
      await expect.poll(async () => misconfigurationOf(await failureOf(storage.ready))).toMatch(/standalone/);
    } finally {
      await server.kill(member());
      await server.start(member());
    }
    await expectHealing(storage);
  });

  test('that is paused', async () => {
    const storage = open(server.url('paused'));
    await addTo(storage.pets, rex);
    await server.pause(member());
    try {
      await expectUnavailable(storage);
      // Longer than it takes to give the server up.
      await pause(TIME_LIMITS.heartbeat + TIME_LIMITS.connect);
      await expectUnavailable(storage);
      const started = performance.now();
      const closing = open(server.url('paused'));
      await expectUnavailable(closing);
      await closing.close();
      expect(performance.now() - started).toBeLessThan(2 * TIME_LIMITS.call + TOLERANCE);
    } finally {
      await server.resume(member());
    }
    await expectHealing(storage);
  });
});

describeWithContainers('a network', () => {
  test('that loses the response to a creation returns the same pet to a retry, in another process, too', async () => {
    const url = freshDatabase();
    const { url: detour, proxy } = await behindProxy(url);
    const [one, other] = [open(detour), open(url)];
    // An id is reserved, so that the response to the insertion is the first to be lost.
    for (let count = 0; count < 3; count += 1) await addTo(one.pets, rex);
    proxy.loseResponses();
    await expect(Promise.resolve(addTo(one.pets, rex, create))).rejects.toMatchObject({ code: 'storage_unavailable' });
    const stored = await databaseAt(url).collection('pets').find({ 'idempotency.key': 'k1' }).toArray();
    expect(stored).toHaveLength(1);
    const again = await addTo(other.pets, rex, create);
    expect(again?.id).toBe(stored[0]?._id);
    proxy.pass();
    await expectHealing(one);
    expect(await addTo(one.pets, rex, create)).toEqual(again);
    expect(await databaseAt(url).collection('pets').countDocuments({ 'idempotency.key': 'k1' })).toBe(1);
  });

  test('between: closing lets go of every connection, also while the first is being made', async () => {
    const { url, proxy } = await behindProxy(freshDatabase());
    const early = open(url);
    const ready = Promise.resolve(early.ready()).catch((failure: unknown) => failure);
    await early.close();
    expect(await ready).toMatchObject({ code: 'storage_unavailable' });
    // As long as the servers of a mongodb+srv URL are looked up, the driver has nothing that it could close.
    const lookup = vi.spyOn(MongoClient.prototype, 'connect').mockImplementation(async function connect(
      this: MongoClient,
    ) {
      await pause(200);
      lookup.mockRestore();
      return this.connect();
    });
    const slow = open(url);
    const found = Promise.resolve(slow.ready()).catch((failure: unknown) => failure);
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
