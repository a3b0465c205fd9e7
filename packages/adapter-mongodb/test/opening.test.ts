import { added } from '@animal-store/adapter-contract';
import { ALL_PETS } from '@animal-store/domain/ports';
import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import {
  databaseAt,
  describeWithMongo,
  freshDatabase,
  startLoneServer,
  startReplicaSet,
  withDatabase,
} from '@animal-store/test-servers/mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { isReady, openStorage } from './fixtures.ts';

async function expectMisconfigured(url: string, line: RegExp): Promise<void> {
  const { ready } = openStorage(url);
  await expect.poll(async () => misconfigurationOf(await failureOf(ready))).toMatch(line);
}

test.each([
  [
    'that is missing',
    'tlsCAFile',
    '/nowhere.pem',
    /^a file that the URL names cannot be read: ENOENT.*'\/nowhere.pem'$/,
  ],
  [
    'without a certificate',
    'tlsCertificateKeyFile',
    import.meta.filename,
    /^a file that the URL names has no certificate and key in PEM format: \S/,
  ],
])('a file %s is reported as a misconfiguration if the URL names it', async (_, option, file, line) => {
  await expectMisconfigured(`mongodb://127.0.0.1:1/animals?tls=true&${option}=${encodeURIComponent(file)}`, line);
});

describeWithMongo('a URL', () => {
  test.each([
    ['a name that the server rejects', 'a%2Fb', '', /^the server rejects the name of the database: /],
    ['too long a name', 'x'.repeat(64), '', /^the server rejects the name of the database: /],
    ['an option that needs a package', 'x', 'compressors=snappy', /^an option of the URL needs a package: .*snappy/],
    ['a mechanism that needs one', 'x', 'authMechanism=MONGODB-AWS', /^an option of the URL needs .*@aws-sdk/],
  ])('with %s is reported as a misconfiguration', async (_, database, option, line) => {
    await expectMisconfigured(`${withDatabase(freshDatabase(), database)}&${option}`, line);
  });

  test('with the name of another database in capital letters is reported as a misconfiguration', async () => {
    const url = freshDatabase();
    await openStorage(url).ready();
    const capitals = new URL(url).pathname.slice(1).toUpperCase();
    await expectMisconfigured(
      withDatabase(url, capitals),
      /^the server has a database whose name differs in case alone: /,
    );
  });
});

describeWithMongo('a standalone', () => {
  test('fails every call as a misconfiguration, and gets no collections', async () => {
    const server = await startLoneServer('standalone');
    onTestFinished(() => server.stop());
    const { pets, ready } = openStorage(server.url('animals'));
    const direct = openStorage(server.url('animals', 'directConnection=true'));
    for (const call of [ready, () => pets.find(1n), direct.ready]) {
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
    expect(await storage.pets.list({ ...ALL_PETS, after: 0n, limit: 9 })).toHaveLength(1);
  });
});
