import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  added,
  apiKey,
  expectNoLateWrites,
  idempotencyOf,
  rex,
  type StorageUnderTest,
} from '@animal-store/adapter-contract';
import { ALL_PETS, type PetRepository, type Storage } from '@animal-store/domain/ports';
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

  const freshPlace = () =>
    `${server.url(`failing_${crypto.randomUUID().slice(0, 8)}`)}&retryReads=false&retryWrites=false`;

  /** Pets in a database of their own, so many that some ids are reserved. */
  async function prepared() {
    const url = freshPlace();
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

  /** Sends a command that the server does not end. The result ends it. */
  async function blocking(client: MongoClient, name: string, send: () => Promise<unknown>) {
    const started = new Promise<void>((resolve) => {
      client.on('commandStarted', ({ commandName }) => commandName === name && resolve());
    });
    send().catch(() => {});
    await started;
    return async () => {
      const admin = databaseAt(server.url('admin'));
      const { inprog } = await admin.command({ currentOp: 1, [`command.${name}`]: { $exists: true } });
      for (const { opid } of inprog) await admin.command({ killOp: 1, op: opid });
    };
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
    const pages = await Promise.all(times(2, (index) => pets.list({ ...ALL_PETS, after: BigInt(index), limit: 1 })));
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
    const admin = databaseAt(server.url('admin'));
    const adapter: StorageUnderTest<string> = {
      freshPlace,
      open: (url) => createMongoStorage({ url }),
      interruptions: 'not tested',
    };
    await expectNoLateWrites(adapter, 'locked', {
      leaves: 'reads',
      begin: async () => void (await admin.command({ fsync: 1, lock: true })),
      end: async () => void (await admin.command({ fsyncUnlock: 1 })),
    });
  });

  test.each<[string, (client: MongoClient, storage: Storage) => Promise<() => Promise<unknown>>]>([
    [
      'the check before it',
      async (client, { ready }) => {
        await failing({ times: 1 }, { failCommands: ['listCollections'], blockConnection: true, blockTimeMS: 600_000 });
        return blocking(client, 'listCollections', ready);
      },
    ],
    [
      'a free connection',
      (client) => blocking(client, 'sleep', () => client.db('admin').command({ sleep: 1, lock: 'none', secs: 600 })),
    ],
    [
      'a primary',
      async () => {
        const admin = databaseAt(server.url('admin'));
        await admin.command({ replSetStepDown: 600, force: true });
        return () => admin.command({ replSetFreeze: 0 }, { readPreference: 'secondaryPreferred' });
      },
    ],
  ])('begin no write after its call has failed, while it waits for %s', async (_, begin) => {
    const { url } = await prepared();
    // Of a host program, without the time limits of the adapter.
    const options = { appName: 'animal-store', monitorCommands: true, maxPoolSize: 1, retryWrites: true };
    const client = new MongoClient(url, options);
    const storage = createMongoStorage({ client, database: client.options.dbName });
    onTestFinished(() => storage.close().then(() => client.close()));
    const { pets, keys, archive } = (await isReady(storage)) as Required<Storage>;
    const [known, other] = [apiKey(), apiKey()];
    await keys.add(known);
    // Afterwards some ids are reserved.
    for (let count = 0; count < 3; count += 1) await added(pets);
    const before = await archive.read(0n, 99);
    const end = await begin(client, storage);
    onTestFinished(async () => void (await end().catch(() => {})));
    const writes = [
      () => added(pets),
      () => keys.add(other),
      () => keys.revoke(known.id, 5),
      () => keys.recordUse(known.id, 7),
      () => archive.restore([{ id: 9_999n, ...rex(), createdAt: 0 }]),
      () => archive.skipIds(8_888n),
    ];
    for (const failure of await Promise.all(writes.map(failureOf))) {
      expect(failure).toMatchObject({ code: 'storage_unavailable' });
    }
    await end();
    // It gets the only connection after all that have waited for it.
    await isReady(storage);
    expect(await archive.read(0n, 99)).toEqual(before);
    expect(await keys.list({ after: '', limit: 9 })).toEqual([known]);
    expect(await archive.lastId()).toBeLessThan(8_888n);
  });

  test.each<[string, number, (pets: PetRepository) => Promise<unknown>]>([
    ['find', 1, (pets) => pets.find(1n)],
    ['find', 1, (pets) => pets.list({ ...ALL_PETS, after: 0n, limit: 5 })],
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
