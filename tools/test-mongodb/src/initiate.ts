import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';

/** A member as the configuration of the replica set has it. */
export interface ConfiguredMember {
  /** `host:port`, by which members and clients reach it. */
  readonly host: string;
  /** 0: it votes and is never elected. */
  readonly priority?: number;
}

/**
 * Makes a replica set of running servers and waits for its primary.
 *
 * @param url Leads to the first of the members directly.
 */
export async function initiate(
  url: string,
  members: readonly ConfiguredMember[],
  settings: object = {},
): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000 });
  const admin = client.db('admin');
  try {
    const configured = members.map((member, _id) => ({ _id, ...member }));
    await admin.command({ replSetInitiate: { _id: 'rs0', members: configured, settings } });
    for (const until = Date.now() + 30_000; Date.now() < until; await pause(50)) {
      if ((await admin.command({ hello: 1 }))['primary'] !== undefined) return;
    }
    throw new Error('the replica set elected no primary within 30 seconds');
  } finally {
    await client.close();
  }
}
