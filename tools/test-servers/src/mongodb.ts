import { isMissing } from '@animal-store/test-kit/not-run';
import { MongoClient } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import { databaseOf, type MongoForTests, withDatabase } from './mongodb/server.ts';
import type { Missing } from './shared-server.ts';
import { describeIf } from './suites.ts';

export { proxied as behindProxy } from '@animal-store/adapter-contract';
export { CLIENTS } from './mongodb/member-proxy.ts';
export { type PartitionableSet, startPartitionableSet } from './mongodb/partitionable-set.ts';
export { type LoneServer, type ReplicaSet, startLoneServer, startReplicaSet, withDatabase } from './mongodb/server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    mongodb: MongoForTests | Missing;
  }
}

const mongodb = inject('mongodb');
const admins = new Map<string, MongoClient>();

/** Suites that need a server. */
export const describeWithMongo = describeIf(() => !('missing' in mongodb), closeAdmins);

/** Suites that partition a replica set, whose members must reach proxies of the test. */
export const describeWithPartitions = describeIf(
  () =>
    !('missing' in mongodb) &&
    !isMissing({
      found: mongodb.hostNetwork,
      tests: 'the suites that partition a replica set',
      because: "containers of Docker Desktop don't share the network of this machine",
      remedy: 'To run them, use an engine on Linux.',
    }),
  closeAdmins,
);

/** The URL of a database that is new, and dropped when the running test ends. */
export function freshDatabase(): string {
  if ('missing' in mongodb) throw new Error('a test that needs MongoDB must stand in describeWithMongo');
  const { url } = mongodb;
  const name = `test_${crypto.randomUUID()}`;
  onTestFinished(async () => {
    await adminOf(url).db(name).dropDatabase();
  });
  return withDatabase(url, name);
}

/** A client for the database of such a URL, which shows the stored documents to tests. */
export function databaseAt(url: string) {
  return adminOf(url).db(databaseOf(url));
}

async function closeAdmins(): Promise<void> {
  await Promise.all([...admins.values()].map((admin) => admin.close()));
  admins.clear();
}

function adminOf(url: string): MongoClient {
  const server = withDatabase(url, '');
  let admin = admins.get(server);
  if (admin === undefined) {
    // int64 is seen as such, not as a number.
    admin = new MongoClient(server, { useBigInt64: true });
    admins.set(server, admin);
  }
  return admin;
}
