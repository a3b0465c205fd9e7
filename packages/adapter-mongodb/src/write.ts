import { timeLeft } from '@animal-store/adapter-kit';
import type { ClientSession, MongoClient } from 'mongodb';

/**
 * With a read the driver sends the time of the server's log at which the session's last write ended. The server waits until the
 * majority has it, so that the pet of a duplicate key is found (docs/decisions/README.md).
 */
const SESSION = { causalConsistency: true };

/** Runs a write: commands in its session, which ends at a deadline. */
export type Write = <T>(deadline: number, work: (session: ClientSession) => Promise<T>) => Promise<T>;

/**
 * A command may wait for a primary or for a connection longer than its call does. The driver sends none of a session that has ended,
 * and repeats none.
 *
 * @param checkWritable Rejects if the collections are not those that were opened: a write would create a missing one.
 */
export function createWrite(client: Pick<MongoClient, 'withSession'>, checkWritable: () => Promise<void>): Write {
  return (deadline, work) =>
    client.withSession(SESSION, async (session) => {
      const timer = setTimeout(() => session.endSession(), timeLeft(deadline));
      try {
        await checkWritable();
        return await work(session);
      } finally {
        clearTimeout(timer);
      }
    });
}
