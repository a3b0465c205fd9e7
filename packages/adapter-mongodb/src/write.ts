import { type Limits, timeLeft } from '@animal-store/adapter-kit';
import type { ClientSession, MongoClient } from 'mongodb';

/**
 * With a read the driver sends the time of the server's log at which the session's last write ended. The server waits until the
 * majority has it, so that the pet of a duplicate key is found (docs/decisions/README.md).
 */
const SESSION = { causalConsistency: true };

/** Runs a write: commands in its session, which ends at the deadline. */
export type Write = <T>(limits: Limits, work: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * A command may wait for a primary or for a connection longer than its call does. The driver sends none of a session that has
 * ended, and repeats none.
 *
 * @param checkWritable Rejects if the collections are not those that were opened: a write would create a missing one.
 */
export function createWrites(client: Pick<MongoClient, 'withSession'>, checkWritable: () => Promise<void>) {
  const sessions = new Set<ClientSession>();

  const write: Write = (limits, work) =>
    client.withSession(SESSION, async (session) => {
      const timer = setTimeout(() => session.endSession(), timeLeft(limits));
      sessions.add(session);
      try {
        await checkWritable();
        return await work(session);
      } finally {
        clearTimeout(timer);
        sessions.delete(session);
      }
    });

  return {
    write,
    /** Ends the sessions of all writes: the client of a caller goes on with their commands when the storage is closed. */
    end: () => Promise.all([...sessions].map((session) => session.endSession())),
  };
}
