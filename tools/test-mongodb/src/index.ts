import { MongoClient } from 'mongodb';
import { afterAll, describe, inject, onTestFinished } from 'vitest';
import { addressOf, databaseOf, withAddress, withDatabase } from './database-url.ts';
import type { MongoForTests } from './server.ts';
import { startProxy, type TcpProxy } from './tcp-proxy.ts';

export { type LoneServer, startLoneServer } from './lone-server.ts';
export { type ReplicaSet, startReplicaSet } from './replica-set.ts';
export type { TcpProxy } from './tcp-proxy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    mongodb: MongoForTests;
  }
}

const mongodb = inject('mongodb');
const admins = new Map<string, MongoClient>();

/** Suites that need a server; skipped where the run has none, of which the end of the run gives notice. */
export function describeWithMongo(name: string, suites: () => void): void {
  describe.skipIf('missing' in mongodb)(name, () => {
    suites();
    // The last hook is the first to run: while the servers are still there.
    afterAll(closeAdmins);
  });
}

/** Suites that cut connections, or stop servers in containers of their own; skipped where there can be none. */
export function describeWithContainers(name: string, suites: () => void): void {
  describe.skipIf('missing' in mongodb || !mongodb.containers)(name, () => {
    suites();
    // The last hook is the first to run: while the servers are still there.
    afterAll(closeAdmins);
  });
}

/** The URL of a database that is new, and dropped when the running test ends. */
export function freshDatabase(): string {
  if ('missing' in mongodb)
    throw new Error('a test that needs MongoDB must stand in describeWithMongo or describeWithContainers');
  const { url, prefix } = mongodb;
  const name = `${prefix}${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}_test`;
  onTestFinished(async () => {
    await adminOf(url).db(name).dropDatabase();
  });
  return withDatabase(url, name);
}

/** A client of the tests' own for the database of such a URL, to look at what is stored. */
export function databaseAt(url: string) {
  return adminOf(url).db(databaseOf(url));
}

/** The same database behind a proxy that is closed when the running test ends. */
export async function behindProxy(url: string): Promise<{ url: string; proxy: TcpProxy }> {
  const proxy = await startProxy(addressOf(url));
  onTestFinished(() => proxy.close());
  return { url: withAddress(url, proxy.address), proxy };
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
