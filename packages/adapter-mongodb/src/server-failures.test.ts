import type { NewPet, Pet } from '@animal-store/domain';
import { fingerprint, type PetStorage } from '@animal-store/domain/ports';
import { databaseAt, describeWithContainers, type ReplicaSet, startReplicaSet } from '@animal-store/test-mongodb';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage, TIME_LIMITS } from './index.ts';

const rex: NewPet = { name: 'Rex', categoryId: 1n };
const addition = (key: string) => ({ holder: 'the zoo', key, fingerprint: fingerprint(rex) });
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** What a busy machine may add to a time limit. */
const TOLERANCE = 600;

describeWithContainers('a server that fails on demand, while many calls are made at once:', () => {
  let server: ReplicaSet;
  beforeAll(async () => {
    server = await startReplicaSet(1);
  }, 60_000);
  afterAll(() => server?.stop());

  /** Animals in a database of their own, so many that some ids are in stock. */
  async function prepared(): Promise<{ pets: PetStorage['pets']; url: string; count(): Promise<number> }> {
    const url = server.url(`failing_${crypto.randomUUID().slice(0, 8)}`);
    const storage = createMongoStorage({ url });
    onTestFinished(async () => storage.close());
    await Promise.all(times(100, (index) => storage.pets.add(rex, addition(`old-${index}`))));
    // The first read confirms the primary, too.
    await storage.pets.find(1n);
    return { pets: storage.pets, url, count: () => databaseAt(url).collection('pets').countDocuments() };
  }

  /** From now on commands of the service fail as the server's failCommand describes it, so often or until the end. */
  async function failing(mode: 'alwaysOn' | { times: number }, data: Document): Promise<() => Promise<void>> {
    const admin = databaseAt(server.url('admin'));
    const off = async () => {
      await admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
    };
    onTestFinished(off);
    await admin.command({ configureFailPoint: 'failCommand', mode, data: { appName: 'animal-store', ...data } });
    return off;
  }

  test('what the majority does not confirm is acknowledged to nobody, and can be added again', async () => {
    const { pets, count } = await prepared();
    const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out', errInfo: { wtimeout: true } };
    const off = await failing('alwaysOn', { failCommands: ['insert'], writeConcernError });
    // Among them one that the index refuses: the server then tells of both.
    const add = () => times(60, (index) => pets.add(rex, addition(index === 40 ? 'old-7' : `new-${index}`)));
    for (const call of await Promise.allSettled(add())) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable', cause: { code: 64 } } });
    }
    await off();
    const added = await Promise.all(add());
    expect(new Set(added.map((pet) => (pet as Pet).id)).size).toBe(60);
    expect(await count()).toBe(159);
  });

  test('a connection that breaks once costs nobody more than adding again, and nothing twice', async () => {
    const { pets, count } = await prepared();
    await failing({ times: 1 }, { failCommands: ['insert'], closeConnection: true });
    const add = () => times(60, (index) => pets.add(rex, addition(`new-${index}`)));
    // The driver tries once more by itself, but not where it learns in another way first that the connection is gone.
    for (const call of await Promise.allSettled(add())) {
      if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'storage_unavailable' });
    }
    const added = await Promise.all(add());
    expect(new Set(added.map((pet) => pet?.id)).size).toBe(60);
    expect(await count()).toBe(160);
  });

  test('one that breaks again and again fails all additions of its time, and none after it', async () => {
    const { pets, count } = await prepared();
    const off = await failing('alwaysOn', { failCommands: ['insert'], closeConnection: true });
    for (const call of await Promise.allSettled(times(60, () => pets.add(rex)))) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    }
    expect(await count()).toBe(100);
    await off();
    await Promise.all(times(60, () => pets.add(rex)));
    expect(await count()).toBe(160);
  });

  test('a read that the server refuses fails those who asked for it, and nobody who waits', async () => {
    const { pets } = await prepared();
    await failing({ times: 1 }, { failCommands: ['find'], errorCode: 2 });
    const calls = await Promise.allSettled(times(20, (index) => pets.find(BigInt(index + 1))));
    expect(calls[0]).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable' } });
    expect(calls.slice(1).map(({ status }) => status)).toEqual(Array(19).fill('fulfilled'));
  });

  test.each<[string, string, (pets: PetStorage['pets'], index: number) => unknown]>([
    ['reads of animals', 'find', (pets, index) => pets.find(BigInt(index + 1))],
    ['reads of pages', 'find', (pets, index) => pets.list({ after: 0n, limit: index + 1 })],
    ['additions', 'insert', (pets) => pets.add(rex)],
  ])('%s of which one gets no answer go on without it', async (_, command, call) => {
    const { pets } = await prepared();
    // As many as may be under way at once, and longer than the silence on a socket that is put up with.
    const block = { blockConnection: true, blockTimeMS: TIME_LIMITS.socket + 1_000 };
    await failing({ times: command === 'find' ? 1 : 2 }, { failCommands: [command], ...block });
    const started = performance.now();
    const after: number[] = [];
    await Promise.all(
      times(20, async (index) => {
        await call(pets, index);
        after.push(performance.now() - started);
      }),
    );
    expect(after.filter((time) => time < TIME_LIMITS.batch + TOLERANCE).length).toBeGreaterThanOrEqual(18);
    // And the driver has tried again for those who got none.
    expect(Math.max(...after)).toBeGreaterThan(TIME_LIMITS.socket - 100);
    expect(Math.max(...after)).toBeLessThan(TIME_LIMITS.call);
  });
});
