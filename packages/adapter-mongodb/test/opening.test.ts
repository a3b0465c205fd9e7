import { added } from '@animal-store/adapter-contract';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  databaseAt,
  describeWithMongo,
  freshDatabase,
  type LoneServer,
  startLoneServer,
  startReplicaSet,
  withDatabase,
} from '@animal-store/test-servers/mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { isReady, openStorage } from './fixtures.ts';

test('a file that the URL names is reported as a misconfiguration if it cannot be read', async () => {
  const url = 'mongodb://localhost/animals?tls=true&tlsCAFile=%2Fnowhere.pem';
  const error = await failureOf(openStorage(url).ready);
  expect(misconfigurationOf(error)).toMatch(/^a file that the URL names cannot be read: ENOENT.*'\/nowhere.pem'$/);
});

test('a file without a certificate is reported as a misconfiguration if the URL names it', async () => {
  const file = import.meta.filename;
  const url = `mongodb://127.0.0.1:1/animals?tls=true&tlsCertificateKeyFile=${encodeURIComponent(file)}`;
  const line = /^a file that the URL names has no certificate and key in PEM format: \S/;
  expect(misconfigurationOf(await failureOf(openStorage(url).ready))).toMatch(line);
});

test("a server that can't be reached is unavailable, and no misconfiguration", async () => {
  const error = await failureOf(openStorage('mongodb://127.0.0.1:1/animals?replicaSet=rs0').ready);
  expect(error).toMatchObject({
    code: 'storage_unavailable',
    cause: { message: expect.stringContaining('ECONNREFUSED') },
  });
  expect(misconfigurationOf(error)).toBeNull();
});

describeWithMongo('a URL', () => {
  test('may name a database with every character that the server allows, percent-encoded', async () => {
    const name = `a@b#c&d=e%f+g'(h)[i];,ë?${crypto.randomUUID().slice(0, 8)}`;
    const url = freshDatabase();
    onTestFinished(async () => void (await databaseAt(url).client.db(name).dropDatabase()));
    const { pets } = await isReady(openStorage(withDatabase(url, encodeURIComponent(name))));
    await added(pets);
    expect(await databaseAt(url).client.db(name).collection('pets').countDocuments()).toBe(1);
  });

  test.each([
    ['a name that the server rejects', 'a%2Fb', '', /^the server rejects the name of the database: /],
    ['too long a name', 'x'.repeat(64), '', /^the server rejects the name of the database: /],
    ['snappy, which is not installed', 'x', '&compressors=snappy', /^an option of the URL needs a package: .*snappy/],
    [
      'AWS, which is not installed',
      'x',
      '&authMechanism=MONGODB-AWS',
      /^an option of the URL needs a package: .*@aws-sdk/,
    ],
  ])('with %s is reported as a misconfiguration', async (_, database, options, line) => {
    const storage = openStorage(`${withDatabase(freshDatabase(), database)}${options}`);
    await expect.poll(async () => misconfigurationOf(await failureOf(storage.ready))).toMatch(line);
  });
});

describeWithMongo('a standalone', () => {
  let server: LoneServer;
  beforeAll(async () => {
    server = await startLoneServer('standalone');
  });
  afterAll(() => server?.stop());

  test('fails every call as a misconfiguration, and gets no collections', async () => {
    const { pets, ready } = openStorage(server.url('animals'));
    for (const call of [
      ready,
      () => pets.find(1n),
      openStorage(server.url('animals', 'directConnection=true')).ready,
    ]) {
      expect(misconfigurationOf(await failureOf(call))).toMatch(/^the server is a standalone: .* run rs.initiate\(\)$/);
    }
    expect(await databaseAt(server.url('animals')).listCollections().toArray()).toEqual([]);
  });
});

describeWithMongo('a replica set', () => {
  test('is unavailable until it is initiated, and then works', async () => {
    const server = await startLoneServer('uninitiated');
    onTestFinished(() => server.stop());
    const storage = openStorage(server.url('animals', 'directConnection=true'));
    const error = await failureOf(storage.ready);
    expect(error).toMatchObject({ cause: { message: 'the replica set is not initiated: run rs.initiate()' } });
    expect(misconfigurationOf(error)).toBeNull();
    await server.initiate();
    // A primary that was just elected can't be written at once.
    await expect.poll(() => failureOf(storage.ready)).toBeNull();
  });

  test('serves calls again after its only member was started as a standalone', async () => {
    const server = await startReplicaSet();
    onTestFinished(() => server.stop());
    const storage = await isReady(openStorage(server.url('alone')));
    await added(storage.pets);
    await server.kill();
    await server.startAlone();
    // The first calls may end before the driver has seen what the server is now.
    await expect.poll(async () => misconfigurationOf(await failureOf(storage.ready))).toMatch(/^no server of the URL/);
    await server.kill();
    await server.start();
    await expect.poll(() => failureOf(storage.ready)).toBeNull();
    expect(await storage.pets.list({ after: 0n, limit: 9 })).toHaveLength(1);
  });
});
