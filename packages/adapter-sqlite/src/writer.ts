// The program of the writer thread.

import { parentPort, workerData } from 'node:worker_threads';
import { BUDGET } from '@animal-store/adapter-kit';
import { kindOf, ROLLED_BACK, whenUnlocked } from './failures.ts';
import { checkPlace, type Place } from './file.ts';
import { checkSchema, connect, type Database, type Row, type Statement } from './schema.ts';

/** Statements that run until one of them has rows or fails alone (`writes` in failures.ts). What ran before is written, too. */
export type Write = readonly Statement[];

/** Writes that are committed together. */
export interface Transaction {
  readonly writes: readonly Write[];
  /** When their callers have given up, on the clock of `now`. */
  readonly deadline: number;
}

/** The time in milliseconds since the epoch, on a clock that the threads of a process share, and that nobody sets. */
export const now = (): number => performance.timeOrigin + performance.now();

/** The rows, or the members of an error: structuredClone of an error drops its code. */
export type Outcome = readonly Row[] | { readonly name: string; readonly message: string };

const LATE = Object.assign(new Error('the thread was not ready in time'), { name: 'TimeoutError' });

/** SQLite's error for statements of a transaction that another one has rolled back. */
const GONE = Object.assign(new Error('another write has rolled back the transaction'), {
  code: 'ERR_SQLITE_ERROR',
  errcode: ROLLED_BACK.codes[0],
});

/** Commits writes to the files of a place, and to no other ones, on a connection of its own, which the first write opens. */
export function createWriter(place: Place) {
  const { path } = place;
  let database: Database | null = null;
  /** Its `PRAGMA data_version` at the last check of the schema. A commit of another connection changes it. */
  let checkedVersion: unknown = null;

  function begin(): Database {
    if (database === null) {
      // Checked before it connects: if the file was replaced, the connection would use the log of the old file.
      checkPlace(place);
      database = connect(path);
      checkedVersion = null;
    }
    const { db, run } = database;
    db.exec('BEGIN IMMEDIATE');
    // In the transaction, so that nothing is written to a file that this version doesn't know.
    const [[version] = []] = run([['PRAGMA data_version']]);
    if (version !== checkedVersion) checkSchema(path, database);
    checkedVersion = version;
    return database;
  }

  function close(): void {
    database?.db.close();
    database = null;
  }

  return {
    /**
     * Commits writes, in their order, in one transaction, unless its deadline is over when it begins. An error that
     * fails one write is the outcome of that write alone, unless the transaction ends with it. After any other one nothing is
     * committed, and it is the outcome of all.
     */
    async commit({ writes, deadline }: Transaction): Promise<readonly Outcome[]> {
      if (writes.length === 0) return [];
      const outcomes: Outcome[] = [];
      try {
        const { db, run } = await whenUnlocked(begin, Math.min(deadline - now(), BUDGET.lock));
        // The connection, the lock or a stopped process may have taken longer.
        if (now() >= deadline) throw LATE;
        for (const write of writes) {
          try {
            outcomes.push(run(write));
          } catch (error) {
            if (kindOf(error).writes !== 'one') throw error;
            outcomes.push(membersOf(error));
            // A trigger with RAISE(ROLLBACK), or a constraint with ON CONFLICT ROLLBACK.
            if (!db.isTransaction) throw GONE;
          }
        }
        checkPlace(place);
        db.exec('COMMIT');
        return outcomes;
      } catch (error) {
        // This rolls back.
        close();
        const culprit = error === GONE ? outcomes.length - 1 : -1;
        return writes.map((_, index) => (index === culprit ? (outcomes[index] as Outcome) : membersOf(error)));
      }
    },
    close,
  };
}

function membersOf(error: unknown): { name: string; message: string } {
  const { name, message } = error as Error;
  return { ...(error as object), name, message };
}

if (parentPort !== null) {
  const port = parentPort;
  const { commit, close } = createWriter(workerData);
  // thread.ts sends the next message after the reply to this one.
  port.on('message', async (transaction: Transaction | null) => {
    if (transaction !== null) return port.postMessage(await commit(transaction));
    close();
    port.close();
  });
}
