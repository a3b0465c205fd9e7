import { setTimeout as sleep } from 'node:timers/promises';
import { added, apiKey, archiveContract, behindProxy, rex, storageContract } from '@animal-store/adapter-contract';
import { closed, type Storage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { describeWithMongo } from '@animal-store/test-servers/mongodb';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { isReady, times } from './fixtures.ts';
import { freshPlace } from './fresh-place.ts';

/** What a caller may want for work of its own, and the storage must not have. */
const WEAK: MongoClientOptions = {
  ...{ readPreference: 'secondary', readConcern: { level: 'local' }, writeConcern: { w: 0 }, retryWrites: false },
  ...{ serializeFunctions: true, bsonRegExp: true, enableUtf8Validation: false },
  ...{ forceServerObjectId: true, pkFactory: { createPk: () => 'mine' }, retryReads: false },
  ...{ ignoreUndefined: true, raw: true, promoteBuffers: true, promoteLongs: false, promoteValues: false },
  // The driver notices a silent server soon.
  ...{ heartbeatFrequencyMS: 500, connectTimeoutMS: 1_000 },
};

const LISTENERS = 'topologyDescriptionChanged';

const openWith = (client: MongoClient) => createMongoStorage({ client, database: client.options.dbName });

/** Opens a storage, and closes it with its client. */
function openWeak(url: string): Storage {
  const client = new MongoClient(url, WEAK);
  const storage = openWith(client);
  const close = () => storage.close().then(() => client.close());
  return { ...storage, close, [Symbol.asyncDispose]: close };
}

describeWithMongo("a storage of a caller's client", () => {
  // The driver closes a silent connection of such a client when the server does.
  const { misconfiguredPlaces: _, proxyOf: __, ...adapter } = behindProxy({ freshPlace, open: openWeak });
  storageContract('mongodb with weak guarantees and undecoded documents', adapter);
  archiveContract('mongodb with weak guarantees and undecoded documents', adapter);

  test('leaves the client open, with no listener, and does not connect it again once the caller has closed it', async () => {
    const client = new MongoClient(freshPlace(), { useBigInt64: true });
    onTestFinished(() => client.close());
    await client.connect();
    const before = client.listenerCount(LISTENERS);
    const [one, two, three] = [openWith(client), openWith(client), openWith(client)];
    for (const storage of [one, two]) expect(await added((await isReady(storage)).pets)).toMatchObject(rex());
    await one.close();
    expect(await client.db().command({ ping: 1 })).toMatchObject({ ok: 1 });
    await client.close();
    for (const storage of [two, three]) {
      expect(await failureOf(storage.ready)).toMatchObject({
        code: 'storage_unavailable',
        cause: { message: expect.stringMatching(/closed|connected/) },
      });
    }
    await Promise.all([two.close(), three.close()]);
    expect(client.listenerCount(LISTENERS)).toBe(before);
  });

  test('begins nothing after its close, whatever is in flight', async () => {
    const client = new MongoClient(freshPlace(), { monitorCommands: true });
    onTestFinished(() => client.close());
    const storage = await isReady(openWith(client));
    const calls = times(1_500, () => failureOf(() => added(storage.pets)));
    calls.push(...times(20, () => failureOf(() => storage.keys.add(apiKey()))));
    await new Promise<void>((resolve) => {
      client.on('commandStarted', ({ commandName }) => commandName === 'insert' && resolve());
    });
    const end = storage.close();
    const begun: string[] = [];
    client.on('commandStarted', ({ commandName }) => begun.push(commandName));
    await end;
    const failures = (await Promise.all(calls)).filter((failure) => failure !== null);
    expect(failures.length).toBeGreaterThan(500);
    for (const failure of failures) expect(failure).toEqual(closed());
    await sleep(1_000);
    expect(begun).toEqual([]);
  });
});

describeWithMongo('a storage of a client that reads int64 as bigint', () => {
  test('returns keys and pets as ever', async () => {
    const client = new MongoClient(freshPlace(), { useBigInt64: true });
    onTestFinished(() => client.close());
    const { pets, keys, archive } = await isReady(openWith(client));
    const record = apiKey({ expiresAt: 1_800_000_000_001 });
    await keys.add(record);
    const pet = await added(pets);
    expect(await keys.find(record.digest)).toStrictEqual(record);
    expect(await keys.list({ after: '', limit: 9 })).toStrictEqual([record]);
    expect(await archive?.read(0n, 9)).toStrictEqual([{ ...pet, createdAt: expect.any(Number) }]);
  });
});

describe('createMongoStorage', () => {
  const url = 'mongodb://zoo:secret@localhost/animals';
  const client = new MongoClient(url);
  const strict = new MongoClient(url, { serverApi: { version: '1', strict: true } });
  const database = 'animals';

  test.each<[string, unknown, string]>([
    ['another client', { client: {}, database }, 'TypeError: client must be a MongoClient of the installed mongodb'],
    ['a strict API', { client: strict, database }, 'StorageMisconfigured: serverApi of the client must not be strict'],
    [
      'local',
      { client, database: 'local' },
      'StorageMisconfigured: the databases admin, config, local are those of the server: name another',
    ],
  ])('rejects %s by an error that names the option', async (_, options, error) => {
    expect(String(await failureOf(() => createMongoStorage(options as never)))).toBe(error);
  });
});
