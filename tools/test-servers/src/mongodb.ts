import { isMissing } from '@animal-store/test-kit/not-run';
import { MongoClient } from 'mongodb';
import { afterAll, describe, inject, onTestFinished } from 'vitest';
import { databaseOf, withDatabase } from './mongodb/server.ts';
import type {} from './shared-server.ts';

export { proxied as behindProxy } from '@animal-store/adapter-contract';
export { CLIENTS } from './mongodb/member-proxy.ts';
export { type PartitionableSet, startPartitionableSet } from './mongodb/partitionable-set.ts';
export { type LoneServer, type ReplicaSet, startLoneServer, startReplicaSet, withDatabase } from './mongodb/server.ts';

const mongodb = inject('mongodb');
const admins = new Map<string, MongoClient>();

/** Declares suites that are skipped if there is no server; the end of the run says so. */
export function describeWithMongo(name: string, suites: () => void): void {
  describe.skipIf('missing' in mongodb)(name, () => {
    suites();
    // The last hook is the first to run: while the server is still there.
    afterAll(closeAdmins);
  });
}

/** The same for suites that partition a replica set, whose members must reach proxies of the test. */
export function describeWithPartitions(name: string, suites: () => void): void {
  const hasNoHostNetwork =
    !('missing' in mongodb) &&
    isMissing({
      found: mongodb.hostNetwork,
      tests: 'the suites that partition a replica set',
      because: "containers of Docker Desktop don't share the network of this machine",
      remedy: 'To run them, use an engine on Linux.',
    });
  if (hasNoHostNetwork) describe.skip(name, suites);
  else describeWithMongo(name, suites);
}

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
