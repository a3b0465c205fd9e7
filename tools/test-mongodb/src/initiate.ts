import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';

/**
 * Makes a replica set of running servers and waits for its primary.
 *
 * @param url Leads to one of the members directly.
 * @param hosts The members, as they and their clients reach each other.
 */
export async function initiate(url: string, hosts: readonly string[], settings: object = {}): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000 });
  const admin = client.db('admin');
  try {
    const members = hosts.map((host, _id) => ({ _id, host }));
    await admin.command({ replSetInitiate: { _id: 'rs0', members, settings } });
    for (const until = Date.now() + 30_000; Date.now() < until; await pause(50)) {
      if ((await admin.command({ hello: 1 }))['primary'] !== undefined) return;
    }
    throw new Error('the replica set elected no primary within 30 seconds');
  } finally {
    await client.close();
  }
}
