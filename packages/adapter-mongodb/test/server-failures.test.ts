import { setTimeout as sleep } from 'node:timers/promises';
import type { Pet } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import { databaseAt, describeWithMongo, type ReplicaSet, startReplicaSet } from '@animal-store/test-mongodb';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { TIME_LIMITS } from '../src/index.ts';
import { addTo, idempotent, openStorage, rex, TOLERANCE, times } from './fixtures.ts';

describeWithMongo('while many calls are made at once', () => {
  let server: ReplicaSet;
  beforeAll(async () => {
    server = await startReplicaSet(1);
  });
  afterAll(() => server?.stop());

  /** Pets in a database of their own, so many that some ids are reserved. */
  async function prepared(): Promise<{ pets: PetStore; count(): Promise<number> }> {
    const url = server.url(`failing_${crypto.randomUUID().slice(0, 8)}`);
    const { pets } = openStorage({ url });
    await Promise.all(times(100, (index) => addTo(pets, rex, idempotent(`old-${index}`))));
    // The first read confirms the primary, too.
    await pets.find(1n);
    return { pets, count: () => databaseAt(url).collection('pets').countDocuments() };
  }

  /** Makes commands of the service fail as the server's failCommand describes it. The result ends that. */
  async function failing(mode: 'alwaysOn' | { times: number }, data: Document): Promise<() => Promise<void>> {
    const admin = databaseAt(server.url('admin'));
    const off = async () => {
      await admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
    };
    onTestFinished(off);
    await admin.command({ configureFailPoint: 'failCommand', mode, data: { appName: 'animal-store', ...data } });
    return off;
  }

  test('creations that the majority does not confirm are not acknowledged, and can be repeated', async () => {
    const { pets, count } = await prepared();
    const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out', errInfo: { wtimeout: true } };
    const off = await failing('alwaysOn', { failCommands: ['insert'], writeConcernError });
    // Among them one that the index rejects: the server then reports both.
    const add = () => times(60, (index) => addTo(pets, rex, idempotent(index === 40 ? 'old-7' : `new-${index}`)));
    for (const call of await Promise.allSettled(add())) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable', cause: { code: 64 } } });
    }
    await off();
    const added = await Promise.all(add());
    expect(new Set(added.map((pet) => (pet as Pet).id)).size).toBe(60);
    expect(await count()).toBe(159);
  });

  test('a connection that breaks once duplicates nothing, and creations can be repeated', async () => {
    const { pets, count } = await prepared();
    await failing({ times: 1 }, { failCommands: ['insert'], closeConnection: true });
    const add = () => times(60, (index) => addTo(pets, rex, idempotent(`new-${index}`)));
    // The driver retries by itself, unless it learns in another way first that the connection is gone.
    for (const call of await Promise.allSettled(add())) {
      if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'storage_unavailable' });
    }
    const added = await Promise.all(add());
    expect(new Set(added.map((pet) => pet?.id)).size).toBe(60);
    expect(await count()).toBe(160);
  });

  test('a read that the server rejects rejects the calls that share it, and no later ones', async () => {
    const { pets } = await prepared();
    await failing({ times: 1 }, { failCommands: ['find'], errorCode: 2 });
    const sharing = Promise.allSettled(times(20, (index) => pets.find(BigInt(index + 1))));
    for (const call of await sharing) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    }
    expect(await pets.find(1n)).toMatchObject(rex);
  });

  test.each<[string, Document]>([
    ['a connection that breaks', { closeConnection: true }],
    ['a primary that steps down', { errorCode: 189 }],
    ['an operation that is interrupted', { errorCode: 11_602 }],
  ])('reads survive %s once', async (_, failure) => {
    const { pets } = await prepared();
    for (const read of [() => pets.find(1n), () => pets.list({ after: 0n, limit: 1 })]) {
      const off = await failing({ times: 1 }, { failCommands: ['find'], ...failure });
      expect(await read()).not.toBeNull();
      await off();
    }
    const off = await failing({ times: 1 }, { failCommands: ['aggregate'], ...failure });
    const lists = await Promise.all(times(9, (index) => pets.list({ after: BigInt(index), limit: 1 })));
    expect(lists.every(({ length }) => length === 1)).toBe(true);
    await off();
  });

  test.each<[string, string, (pets: PetStore, index: number) => unknown]>([
    ['reads of pets', 'find', (pets, index) => pets.find(BigInt(index + 1))],
    ['reads of pages', 'find', (pets, index) => pets.list({ after: 0n, limit: index + 1 })],
    ['creations', 'insert', (pets) => addTo(pets, rex)],
  ])('%s do not wait for a command without a response', { retry: 2 }, async (_, command, call) => {
    const { pets } = await prepared();
    // The server blocks longer than the limit of silence on a socket.
    const block = { blockConnection: true, blockTimeMS: TIME_LIMITS.socket + 1_000 };
    const blocked = command === 'find' ? 1 : 2;
    await failing({ times: blocked }, { failCommands: [command], ...block });
    const started = performance.now();
    const after: number[] = [];
    await Promise.all(
      times(20, async (index) => {
        // Each of the first calls has a command of its own.
        await sleep(10 * Math.min(index, blocked));
        await call(pets, index);
        after.push(performance.now() - started);
      }),
    );
    expect(after.filter((time) => time < TIME_LIMITS.batch + TOLERANCE).length).toBeGreaterThanOrEqual(18);
    // The driver has tried the calls again that got no connection.
    expect(Math.max(...after)).toBeGreaterThan(TIME_LIMITS.socket - 100);
    expect(Math.max(...after)).toBeLessThan(TIME_LIMITS.call);
  });
});
