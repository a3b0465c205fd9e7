import {
  added,
  apiKey,
  idempotencyOf,
  proxied,
  rex,
  type StorageUnderTest,
  storageContract,
} from '@animal-store/adapter-contract';
import type { PetStorage } from '@animal-store/domain/ports';
import { failureOf } from '@animal-store/test-kit/failures';
import { databaseAt, describeWithMongo, startReplicaSet } from '@animal-store/test-servers/mongodb';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMongoStorage } from '../src/index.ts';
import { isReady } from './fixtures.ts';
import { freshPlace } from './fresh-place.ts';

/** What a caller may want for work of its own, and the storage must not have. */
const WEAK: MongoClientOptions = {
  ...{ readPreference: 'secondary', readConcern: { level: 'local' }, writeConcern: { w: 0 }, retryWrites: false },
  ...{ ignoreUndefined: true, promoteBuffers: true },
};

/** Time limits with which the driver notices a server soon. */
const QUICK: MongoClientOptions = { heartbeatFrequencyMS: 500, connectTimeoutMS: 1_000 };

const LISTENERS = 'topologyDescriptionChanged';

function clientOf(url: string, options: MongoClientOptions = {}): MongoClient {
  const client = new MongoClient(url, options);
  onTestFinished(() => client.close());
  return client;
}

const openWith = (client: MongoClient, database = client.options.dbName): PetStorage => {
  const storage = createMongoStorage({ client, database });
  onTestFinished(() => storage.close());
  return storage;
};

describeWithMongo("a storage of a caller's client", () => {
  const adapter: StorageUnderTest<string> = {
    freshPlace,
    open(url) {
      const client = new MongoClient(url);
      const storage = createMongoStorage({ client, database: client.options.dbName });
      const close = () => storage.close().then(() => client.close());
      return { ...storage, close, [Symbol.asyncDispose]: close };
    },
    outages: 'not tested',
  };
  storageContract('mongodb', adapter);

  test.each<[string, MongoClientOptions]>([
    ['raw', { raw: true }],
    ['bigint', { useBigInt64: true }],
    ['unpromoted values', { promoteValues: false }],
    ['Long', { promoteLongs: false }],
  ])('works as it must with a connected client that has weak guarantees and decodes to %s', async (_, decoding) => {
    const url = freshPlace();
    const client = clientOf(url, { ...WEAK, ...decoding });
    await client.connect();
    const { pets, keys, archive } = await isReady(openWith(client));
    const key = apiKey();
    const pet = await added(pets, rex({ status: 'sold' }), idempotencyOf(rex({ status: 'sold' }), 'k'));
    expect(await added(pets, rex({ status: 'sold' }), idempotencyOf(rex({ status: 'sold' }), 'k'))).toEqual(pet);
    expect(await pets.list({ status: 'sold', after: 0n, limit: 9 })).toEqual([pet]);
    expect(await archive?.read(0n, 9)).toMatchObject([pet]);
    await keys.add(key);
    expect(await keys.revoke(key.id, 7)).toEqual({ ...key, revokedAt: 7 });
    expect(await keys.prune(8)).toBe(1);
    expect(await databaseAt(url).collection('pets').countDocuments()).toBe(1);
  });

  test('leaves the client open, with no listener, and does not connect it again once the caller has closed it', async () => {
    const client = clientOf(freshPlace());
    const before = client.listenerCount(LISTENERS);
    const [one, two] = [await isReady(openWith(client)), await isReady(openWith(client))];
    await one.close();
    expect(await client.db().command({ ping: 1 })).toMatchObject({ ok: 1 });
    await client.close();
    for (const storage of [two, openWith(client)]) {
      expect(await failureOf(storage.ready)).toMatchObject({
        code: 'storage_unavailable',
        cause: { message: expect.stringMatching(/closed|connected/) },
      });
    }
    await two.close();
    expect(client.listenerCount(LISTENERS)).toBe(before);
  });

  test('is served again after its server was silent, although no call of the client has a time limit', async () => {
    const { proxy, url } = await proxied(freshPlace());
    const client = clientOf(url, QUICK);
    await client.connect();
    const { pets, ready } = await isReady(openWith(client));
    const pet = await added(pets);
    proxy.swallow();
    for (const call of [ready, () => pets.find(pet.id), () => added(pets)]) {
      expect(await failureOf(call)).toMatchObject({ code: 'storage_unavailable' });
    }
    proxy.passNew();
    await expect.poll(() => failureOf(() => added(pets)), { timeout: 60_000 }).toBeNull();
    expect(await pets.find(pet.id)).toEqual(pet);
  });

  test('is served again after its server was restarted', async () => {
    const server = await startReplicaSet();
    onTestFinished(() => server.stop());
    const client = clientOf(server.url('animals'), QUICK);
    await client.connect();
    const { pets } = await isReady(openWith(client));
    const pet = await added(pets);
    await server.kill();
    expect(await failureOf(() => pets.find(pet.id))).toMatchObject({ code: 'storage_unavailable' });
    await server.start();
    await expect.poll(() => pets.find(pet.id).catch(() => null), { timeout: 60_000 }).toEqual(pet);
  });
});

describe('createMongoStorage', () => {
  const URL_WITH_SECRET = 'mongodb://zoo:secret@localhost/animals';
  const text = (name: string) => new TypeError(`options must be an object whose ${name} is a string`);
  const client = new MongoClient(URL_WITH_SECRET);

  test.each<[string, unknown, Error]>([
    ['a URL alone', URL_WITH_SECRET, text('url')],
    ['nothing', undefined, text('url')],
    ['a URL that is an object', { url: new URL(URL_WITH_SECRET) }, text('url')],
    ['a client alone', client, text('url')],
    ['a client without a database', { client }, text('database')],
    ['a client and a database that is an object', { client, database: client.db('animals') }, text('database')],
    [
      'a URL and a database',
      { url: URL_WITH_SECRET, database: 'animals' },
      new TypeError('options must have no database, only url'),
    ],
    [
      'a client of another package',
      { client: {}, database: 'animals' },
      new TypeError('client must be a MongoClient of the installed mongodb'),
    ],
  ])('rejects %s by a TypeError that names the argument', (_, options, error) => {
    expect(() => createMongoStorage(options as never)).toThrow(error);
  });

  test.each<[string, MongoClientOptions, string]>([
    ['fieldsAsRaw', { fieldsAsRaw: { name: true } }, 'the client must not have fieldsAsRaw'],
    ['a strict API', { serverApi: { version: '1', strict: true } }, 'serverApi of the client must not be strict'],
  ])('rejects a client with %s', (_, options, message) => {
    const unsuitable = new MongoClient(URL_WITH_SECRET, options);
    const create = () => createMongoStorage({ client: unsuitable, database: 'animals' });
    expect(create).toThrow(expect.objectContaining({ name: 'StorageMisconfigured', message }));
  });

  test.each([
    ['local', 'the database local is not replicated'],
    ['', 'the database has no name'],
  ])('rejects the database "%s"', (database, message) => {
    const create = () => createMongoStorage({ client, database });
    expect(create).toThrow(expect.objectContaining({ name: 'StorageMisconfigured', message }));
  });
});
