import type { Missing } from '@animal-store/test-kit/shared-server';
import { MongoClient } from 'mongodb';
import { afterAll, describe, inject, onTestFinished } from 'vitest';
import { databaseOf, type MongoForTests, withDatabase } from './server.ts';

export { proxied as behindProxy } from '@animal-store/adapter-contract';
export { CLIENTS } from './member-proxy.ts';
export { type PartitionableSet, startPartitionableSet } from './partitionable-set.ts';
export { type ReplicaSet, startReplicaSet } from './replica-set.ts';
export { type LoneServer, startLoneServer, withDatabase } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    mongodb: MongoForTests | Missing;
  }
}

const mongodb = inject('mongodb');
const admins = new Map<string, MongoClient>();

/**
 * Declares suites that are skipped if the run lacks their requirements; the end of the run says so. Runs of projects without
 * MongoDB import this file, too: nothing is provided to them.
 */
const describeIf = (isThere: () => boolean) => (name: string, suites: () => void) =>
  describe.skipIf(!isThere())(name, () => {
    suites();
    // The last hook is the first to run: while the servers are still there.
    afterAll(closeAdmins);
  });

/** Suites that need a server. */
export const describeWithMongo = describeIf(() => !('missing' in mongodb));

/** Suites that partition a replica set, whose members must reach proxies of the test. */
export const describeWithPartitions = describeIf(() => !('missing' in mongodb) && mongodb.hostNetwork);

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
