import { failureOf, misconfigurationOf } from '@animal-store/test-kit/failures';
import { databaseAt, describeWithMongo, type LoneServer, startLoneServer } from '@animal-store/test-mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStorage } from './fixtures.ts';

const STANDALONE =
  'the server is a standalone: majority writes need a replica set (one member is enough): start mongod with --replSet ' +
  'and run rs.initiate()';

const open = (url: string) => openStorage({ url, timeLimits: { serverSelection: 500 } });

describeWithMongo('a standalone', () => {
  let server: LoneServer;
  beforeAll(async () => {
    server = await startLoneServer('standalone');
  });
  afterAll(() => server?.stop());

  test('fails every call as a misconfiguration, and gets no collections', async () => {
    const { pets, ready } = open(server.url('animals'));
    for (const call of [ready, () => pets.find(1n), ready]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ code: 'storage_unavailable' });
      expect(misconfigurationOf(error)).toBe(STANDALONE);
    }
    const direct = open(server.url('animals', 'directConnection=true'));
    expect(misconfigurationOf(await failureOf(direct.ready))).toBe(STANDALONE);
    expect(await databaseAt(server.url('animals')).listCollections().toArray()).toEqual([]);
  });

  test('is distinguished from an unavailable server if the URL names a replica set', async () => {
    const error = await failureOf(open(server.url('animals', 'replicaSet=rs0')).ready);
    expect(misconfigurationOf(error)).toMatch(/^no server of the URL is a member of the replica set that it names: /);
  });
});

describeWithMongo('a replica set that is not initiated', () => {
  test('is named in the log, is no misconfiguration, and works once it is initiated', async () => {
    const server = await startLoneServer('uninitiated');
    onTestFinished(() => server.stop());
    const storage = open(server.url('animals', 'directConnection=true'));
    for (const { ready } of [storage, open(server.url('animals', 'replicaSet=rs0')), open(server.url('animals'))]) {
      const error = await failureOf(ready);
      expect(error).toMatchObject({
        code: 'storage_unavailable',
        cause: { message: expect.stringMatching(/not initiated/) },
      });
      expect(misconfigurationOf(error)).toBeNull();
    }
    await server.initiate();
    // A primary that was just elected can't be written at once.
    await expect.poll(() => failureOf(storage.ready)).toBeNull();
  });
});
