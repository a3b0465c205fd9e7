import type { ClientSession, MongoClient, Timestamp } from 'mongodb';

/**
 * Reads the pet behind a duplicate-key error, even before a majority has it: a read with concern `majority` behind the fence
 * waits until it has (docs/decisions/0016-reads-after-an-election.md).
 */
export type Fence = ReturnType<typeof createFence>;

type Work<T> = (session: ClientSession) => Promise<T>;

export function createFence(client: Pick<MongoClient, 'withSession'>) {
  const options = { causalConsistency: true };
  let latest: Timestamp | undefined;

  return {
    /** Runs a write in a session. It resolves also if documents were rejected. */
    write: <T>(work: Work<T>): Promise<T> =>
      client.withSession(options, async (session) => {
        const result = await work(session);
        const { operationTime } = session;
        if (operationTime !== undefined && !latest?.greaterThan(operationTime)) latest = operationTime;
        return result;
      }),

    /** Runs a read. It begins at the time of the server's log at which the latest of the writes ended, or later. */
    read: <T>(work: Work<T>): Promise<T> =>
      client.withSession(options, (session) => {
        if (latest !== undefined) session.advanceOperationTime(latest);
        return work(session);
      }),
  };
}
