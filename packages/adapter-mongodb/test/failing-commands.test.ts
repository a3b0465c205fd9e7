import { setImmediate as nextTurn } from 'node:timers/promises';
import { added, apiKey, expectNoLateWrites, idempotencyOf, rex } from '@animal-store/adapter-contract';
import { BUDGET } from '@animal-store/adapter-kit';
import type { PetRepository, Storage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { databaseAt, describeWithMongo, type ReplicaSet, startReplicaSet } from '@animal-store/test-servers/mongodb';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { isReady, openStorage, times } from './fixtures.ts';

const UNCONFIRMED = {
  writeConcernError: { code: 64, errmsg: 'waiting for replication timed out', errInfo: { wtimeout: true } },
};

describeWithMongo('commands that fail', () => {
  let server: ReplicaSet;
  beforeAll(async () => {
    server = await startReplicaSet();
  });
  afterAll(() => server?.stop());

  /** Pets in a database of their own, so many that some ids are reserved. */
  async function prepared() {
    const url = `${server.url(`failing_${crypto.randomUUID().slice(0, 8)}`)}&retryReads=false&retryWrites=false`;
    const storage = (await isReady(openStorage(url))) as Required<Storage>;
    const { pets } = storage;
    for (let index = 0; index < 10; index += 1) await added(pets, rex(), idempotencyOf(rex(), `old-${index}`));
    // The first read confirms the primary, too.
    await pets.find(1n);
    return { ...storage, url, count: () => databaseAt(url).collection('pets').countDocuments() };
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

  test('acknowledge no creation that the majority does not confirm, and it can be repeated', async () => {
    const { pets, count } = await prepared();
    const off = await failing('alwaysOn', { failCommands: ['insert'], ...UNCONFIRMED });
    // Among them one that the index rejects: the server then reports both.
    const keyOf = (index: number) => (index === 40 ? 'old-7' : `new-${index}`);
    const addAll = () => times(60, (index) => added(pets, rex(), idempotencyOf(rex(), keyOf(index))));
    for (const call of await Promise.allSettled(addAll())) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'storage_unavailable', cause: { code: 64 } } });
    }
    await off();
    const all = await Promise.all(addAll());
    expect(new Set(all.map(({ id }) => id)).size).toBe(60);
    expect(await count()).toBe(69);
  });

  test.each<[string, { times: number } | 'alwaysOn', Document, number]>([
    ['is not confirmed', 'alwaysOn', UNCONFIRMED, 11],
    // The driver repeats it once, and the server knows it then.
    ['breaks two connections', { times: 2 }, { closeConnection: true }, 10],
  ])('never send a creation without a key again that %s', async (_, mode, failure, stored) => {
    const { pets, count } = await prepared();
    const off = await failing(mode, { failCommands: ['insert'], ...failure });
    await expect(added(pets)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await off();
    expect(await count()).toBe(stored);
  });

  test('fail repeated creations alone if their pets cannot be read, and not those that were created with them', async () => {
    const { pets } = await prepared();
    await failing('alwaysOn', { failCommands: ['find'], errorCode: 11_602 });
    const calls = ['new', 'old-7', undefined].map((key) =>
      added(pets, rex(), key ? idempotencyOf(rex(), key) : undefined),
    );
    const [created, repeated, other] = await Promise.allSettled(calls);
    expect([created, other]).toMatchObject([{ value: rex() }, { value: rex() }]);
    expect(repeated).toMatchObject({ reason: { code: 'storage_unavailable', cause: { code: 11_602 } } });
  });

  test('are repeated once if they read, whatever the URL says', async () => {
    const { pets, keys, ready } = await prepared();
    for (const command of ['listCollections', 'listIndexes', 'connectionStatus']) {
      await failing({ times: 1 }, { failCommands: [command], errorCode: 11_602 });
      expect(await failureOf(ready), command).toBeNull();
    }
    for (const failure of [{ errorCode: 11_602 }, { closeConnection: true }]) {
      await failing({ times: 1 }, { failCommands: ['find'], ...failure });
      expect(await pets.find(1n)).toMatchObject(rex());
    }
    await failing({ times: 1 }, { failCommands: ['find'], errorCode: 11_602 });
    expect(await keys.find('0'.repeat(64))).toBeNull();
    await failing({ times: 1 }, { failCommands: ['aggregate'], errorCode: 11_602 });
    const pages = await Promise.all(times(2, (index) => pets.list({ after: BigInt(index), limit: 1 })));
    expect(pages.map(([pet]) => pet?.id)).toEqual([1n, 2n]);
  });

  test('fail one check of the collections, and not the writes after it', async () => {
    const { pets, ready } = await prepared();
    // The driver repeats it once.
    await failing({ times: 2 }, { failCommands: ['listCollections'], errorCode: 11_602 });
    await expect(ready()).rejects.toMatchObject({ code: 'storage_unavailable', cause: { code: 11_602 } });
    expect(await added(pets)).toMatchObject(rex());
  });

  test('are repeated if they reserve ids and get no response, because creations wait for them', async () => {
    const { pets } = await prepared();
    await failing({ times: 1 }, { failCommands: ['findAndModify'], blockConnection: true, blockTimeMS: 3_000 });
    await Promise.all(times(100, () => added(pets)));
  });

  test('begin no write after its call has failed, while the server is locked for a snapshot', async () => {
    const storage = await prepared();
    const admin = databaseAt(server.url('admin'));
    await expectNoLateWrites(storage, {
      async begin() {
        await admin.command({ fsync: 1, lock: true });
        onTestFinished(async () => void (await admin.command({ fsyncUnlock: 1 }).catch(() => {})));
      },
      end: async () => void (await admin.command({ fsyncUnlock: 1 })),
    });
  });

  test('begin no write after its call has failed, if the check before it took longer', async () => {
    const { count, url } = await prepared();
    // Of a host program, without the time limits of the adapter.
    const client = new MongoClient(url, { appName: 'animal-store', monitorCommands: true });
    const storage = createMongoStorage({ client, database: client.options.dbName });
    onTestFinished(() => storage.close().then(() => client.close()));
    await isReady(storage);
    const { pets, keys, archive, ready } = storage;
    const checked = new Promise<void>((resolve) => {
      client.on('commandSucceeded', ({ commandName }) => commandName === 'listCollections' && resolve());
    });
    const data = { failCommands: ['listCollections'], blockConnection: true, blockTimeMS: BUDGET.call + 200 };
    await failing({ times: 1 }, data);
    const calls = [
      ready,
      () => added(pets),
      () => keys.add(apiKey()),
      () => archive?.restore([{ id: 9_999n, ...rex(), createdAt: 0 }]),
    ];
    for (const failure of await Promise.all(calls.map(failureOf))) {
      expect(failure).toMatchObject({ code: 'storage_unavailable' });
    }
    await checked;
    // A creation that began too late would be stored before it, and a restored pet would raise the counter of ids.
    expect((await added(pets)).id).toBeLessThan(9_999n);
    expect(await count()).toBe(11);
    expect(await keys.list({ after: '', limit: 9 })).toEqual([]);
  });

  test.each<[string, number, (pets: PetRepository) => Promise<unknown>]>([
    ['find', 1, (pets) => pets.find(1n)],
    ['find', 1, (pets) => pets.list({ after: 0n, limit: 5 })],
    ['insert', 2, (pets) => added(pets)],
  ])('do not delay other calls if they get no response: %s, %i times', async (command, silent, call) => {
    const { pets } = await prepared();
    // Longer than any call may take.
    const data = { failCommands: [command], blockConnection: true, blockTimeMS: 3_000 };
    const off = await failing({ times: silent }, data);
    const waiting: Promise<unknown>[] = [];
    for (let index = 0; index < silent; index += 1) {
      waiting.push(failureOf(() => call(pets)).then(() => 'a silent call'));
      // It has a command of its own, which begins at the end of the next turn.
      await nextTurn();
      await nextTurn();
    }
    expect(await Promise.race([call(pets).then(() => 'another call'), ...waiting])).toBe('another call');
    await Promise.all(waiting);
    await off();
  });
});
