import type { ClientSession, MongoClient, Timestamp } from 'mongodb';

/** Work whose operations belong to a session. */
type Work<T> = (session: ClientSession) => Promise<T>;

/**
 * Reads that see what writes have met. A unique index rejects a document because of another one that the majority may not
 * have yet. A read with concern `majority` behind the fence waits until it has.
 */
export interface Fence {
  /** Runs a write, which resolves also if documents were rejected. */
  write<T>(work: Work<T>): Promise<T>;
  /** Runs a read. It begins at the time of the server's log at which the latest of the writes ended, or later. */
  read<T>(work: Work<T>): Promise<T>;
}

export function createFence(client: Pick<MongoClient, 'withSession'>): Fence {
  const options = { causalConsistency: true };
  let latest: Timestamp | undefined;

  return {
    write: (work) =>
      client.withSession(options, async (session) => {
        const result = await work(session);
        const { operationTime } = session;
        if (operationTime !== undefined && !latest?.greaterThan(operationTime)) latest = operationTime;
        return result;
      }),

    read: (work) =>
      client.withSession(options, (session) => {
        if (latest !== undefined) session.advanceOperationTime(latest);
        return work(session);
      }),
  };
}
