import { DomainError } from '@animal-store/domain';
import { closed } from '@animal-store/domain/ports';
import pg from 'pg';
import type { TimeLimits } from '../time-limits.ts';
import { isDefect, mustBeRepeated, toPortError } from './failures.ts';
import { startSession } from './session.ts';
import { Statement } from './statement.ts';

/**
 * Runs one statement, which is a transaction of its own. Its text is a constant: every connection prepares it once.
 *
 * @returns The rows, each an array of the texts in its columns.
 * @throws Error of the driver or the server.
 */
export type Query = <Row extends readonly unknown[]>(sql: string, ...values: unknown[]) => Promise<Row[]>;

/** A pool of connections, which are made when they are needed. */
export interface Connection {
  readonly query: Query;

  /**
   * Runs one call of a port, within the time that a call may take. Before the first one the database is prepared.
   *
   * @throws DomainError `storage_unavailable`, or an error that shows a defect.
   */
  call<R>(work: () => Promise<R>): Promise<R>;

  /** Ends what is in flight and closes every socket. Never throws. */
  close(): Promise<void>;
}

/** Reads, creations and counts have one or two statements in flight, whatever the number of calls. */
const MAX_CONNECTIONS = 10;

/** How often a statement is tried that the server wants to be repeated. */
const MAX_TRIES = 10;

/** @param prepare Prepares the database. It runs again after a failure, and after each error that shows a defect. */
export function createConnection(
  url: string,
  limits: TimeLimits,
  prepare: (query: Query) => Promise<void>,
): Connection {
  const pool = new pg.Pool({
    connectionString: url,
    fallback_application_name: 'animal-store',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: limits.connect,
    idleTimeoutMillis: limits.idle,
    keepAlive: true,
    // Idle connections keep no process alive, even if the server is silent when they are closed.
    allowExitOnIdle: true,
    onConnect: (client) => startSession(client, limits),
  });
  // An idle connection was lost. The pool has removed it.
  pool.on('error', () => {});
  let prepared: Promise<void> | null = null;
  let isClosed = false;

  const query: Query = async (sql, ...values) => {
    for (let tried = 1; ; tried += 1) {
      try {
        return (await pool.query(new Statement(sql, values, limits.response))).rows as never;
      } catch (failure) {
        if (!mustBeRepeated(failure) || tried === MAX_TRIES) throw failure;
      }
    }
  };

  /** The preparation that all calls share until it fails, or a call that used it. */
  function prepareOnce(): Promise<void> {
    if (prepared !== null) return prepared;
    const started = prepare(query);
    prepared = started;
    started.catch(() => discard(started));
    return started;
  }

  function discard(preparation: Promise<void>): void {
    if (prepared === preparation) prepared = null;
  }

  async function attempt<R>(work: () => Promise<R>): Promise<R> {
    const used = prepareOnce();
    try {
      await used;
      return await work();
    } catch (failure) {
      // Too many calls are waiting; the server is not the cause.
      if (DomainError.is(failure)) throw failure;
      discard(used);
      // A newer version may have changed the format.
      if (isDefect(failure)) await prepareOnce();
      throw failure;
    }
  }

  /** Stops waiting for work that takes too long. The work itself ends by the limits of its stages. */
  function withTimeout<R>(work: Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no response within ${limits.call} ms`)), limits.call);
      work.then(resolve, reject).then(() => clearTimeout(timer));
    });
  }

  return {
    query,

    async call(work) {
      if (isClosed) throw closed();
      try {
        return await withTimeout(attempt(work));
      } catch (failure) {
        throw toPortError(failure);
      }
    },

    async close() {
      isClosed = true;
      // A second call ends nothing, and rejects.
      await withTimeout(pool.end()).catch(() => {});
    },
  };
}
