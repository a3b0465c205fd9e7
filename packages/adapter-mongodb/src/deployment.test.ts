import type { PetStorage } from '@animal-store/domain/ports';
import {
  databaseAt,
  describeWithContainers,
  describeWithMongo,
  freshDatabase,
  type LoneServer,
  startLoneServer,
} from '@animal-store/test-mongodb';
import { MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { misconfiguration } from '../test/misconfiguration.ts';
import { explained, faultOf } from './deployment.ts';
import { createMongoStorage } from './index.ts';

const STANDALONE =
  'the server is a standalone: majority writes need a replica set (one member is enough): start mongod with --replSet ' +
  'and run rs.initiate()';

function opened(url: string): PetStorage {
  const storage = createMongoStorage({ url, timeLimits: { serverSelection: 500 } });
  onTestFinished(async () => storage.close());
  return storage;
}

const failureOf = (work: unknown) =>
  Promise.resolve(work).then(
    () => null,
    (error: unknown) => error,
  );

describe('what a server says of itself', () => {
  const NEW = { maxWireVersion: 17 };

  test.each([
    ['a member of a replica set', { ...NEW, setName: 'rs0' }, null],
    ['a router of a sharded cluster', { ...NEW, msg: 'isdbgrid' }, 'ROUTER'],
    ['a member of a set that is not initiated', { ...NEW, isreplicaset: true }, null],
    ['a standalone', { ...NEW, isWritablePrimary: true }, 'STANDALONE'],
    ['a member of MongoDB 5.0', { maxWireVersion: 13, setName: 'rs0' }, 'TOO_OLD'],
    ['a standalone of MongoDB 5.0', { maxWireVersion: 13 }, 'TOO_OLD'],
  ])('%s', (_name, hello, violation) => {
    expect(faultOf(hello)).toBe(violation);
  });
});

describe('a client that finds no primary', () => {
  test.each([
    [['RSGhost'], true],
    [['RSGhost', 'Unknown'], true],
    // One that was removed from its set, beside one that waits for a primary.
    [['RSGhost', 'RSSecondary', 'Unknown'], false],
    [['RSGhost', 'RSOther'], false],
    [['Unknown'], false],
  ])('and sees %j', (types, uninitiated) => {
    const servers = new Map(types.map((type, index) => [`host:${index}`, { type }]));
    const failure = new MongoServerSelectionError('timed out', { servers } as unknown as TopologyDescription);
    expect(/not initiated/.test((explained(failure) as Error).message)).toBe(uninitiated);
  });
});

describeWithContainers('a standalone', () => {
  let server: LoneServer;
  beforeAll(async () => {
    server = await startLoneServer('standalone');
  }, 60_000);
  afterAll(() => server?.stop());

  test('is named as what it is by whatever is tried first, each time, and nothing is made on it', async () => {
    const { pets, ready } = opened(server.url('animals'));
    for (const work of [ready(), pets.find(1n), ready()]) {
      const error = await failureOf(work);
      expect(error).toMatchObject({ code: 'storage_unavailable', cause: { name: 'StorageMisconfigured' } });
      expect(misconfiguration(error)).toBe(STANDALONE);
    }
    expect(misconfiguration(await failureOf(opened(server.url('animals', 'directConnection=true')).ready()))).toBe(
      STANDALONE,
    );
    expect(await databaseAt(server.url('animals')).listCollections().toArray()).toEqual([]);
  });

  test('is told from a server out of reach where the URL asks for a replica set', async () => {
    const error = await failureOf(opened(server.url('animals', 'replicaSet=rs0')).ready());
    expect(misconfiguration(error)).toMatch(/^no server of the URL is a member of the replica set that it names: /);
  });
});

describeWithContainers('a replica set that is not initiated', () => {
  test('is no mistake for good: it is named in the log, and the storage works as soon as it is', async () => {
    const server = await startLoneServer('uninitiated');
    onTestFinished(() => server.stop());
    const storage = opened(server.url('animals', 'directConnection=true'));
    for (const { ready } of [storage, opened(server.url('animals', 'replicaSet=rs0')), opened(server.url('animals'))]) {
      const error = await failureOf(ready());
      expect(error).toMatchObject({
        code: 'storage_unavailable',
        cause: { message: expect.stringMatching(/not initiated/) },
      });
      expect(misconfiguration(error)).toBeNull();
    }
    await server.initiate();
    // A primary that was just elected needs a moment until it can be written.
    await expect.poll(() => failureOf(storage.ready()), { timeout: 10_000 }).toBeNull();
  }, 60_000);
});

describeWithMongo('a replica set of another name', () => {
  test('is a mistake in the URL', async () => {
    const url = freshDatabase().replace(/\?.*/, '?replicaSet=other');
    expect(misconfiguration(await failureOf(opened(url).ready()))).toMatch(/correct replicaSet/);
  });
});
