import { Socket } from 'node:net';
import { closed, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import pg from 'pg';
import type { TimeLimits } from '../time-limits.ts';
import { isDefect, mustBeRepeated, toPortError } from './failures.ts';
import { startSession } from './session.ts';

/**
 * Runs one statement, which is a transaction of its own. Its text is a constant: every connection prepares it once. An
 * int8 in the result is a bigint, other numbers are numbers, everything else is text.
 *
 * @returns The rows, each an array of the values of its columns.
 * @throws DomainError `storage_unavailable`, or the server's error if it shows a defect.
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

const { INT8, INT4, FLOAT8 } = pg.types.builtins;
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8]: BigInt,
  [INT4]: Number,
  [FLOAT8]: Number,
};
const asText = (text: string) => text;

/** @param prepare Prepares the database. It runs again after a failure, and after each error that shows a defect. */
export function createConnection(
  url: string,
  limits: TimeLimits,
  prepare: (query: Query) => Promise<void>,
): Connection {
  const sockets = new Set<Socket>();
  const names = new Map<string, string>();
  const pool = new pg.Pool({
    connectionString: url,
    fallback_application_name: 'animal-store',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: limits.connect,
    idleTimeoutMillis: limits.idle,
    keepAlive: true,
    stream: openSocket,
    onConnect: (client) => startSession(client, limits),
    types: { getTypeParser: (type: number) => PARSERS[type] ?? asText },
  });
  // An idle connection was lost. The pool has removed it.
  pool.on('error', () => {});
  let prepared: Promise<void> | null = null;
  let isClosed = false;

  function openSocket(): Socket {
    const socket = new Socket();
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket));
  }

  const query: Query = async (sql, ...values) => {
    const name = names.get(sql) ?? `animal_store_${names.size}`;
    names.set(sql, name);
    const statement = { name, text: sql, values, rowMode: 'array' as const, query_timeout: limits.response };
    for (let tried = 1; ; tried += 1) {
      try {
        return (await pool.query(statement)).rows as never;
      } catch (failure) {
        if (!mustBeRepeated(failure) || tried === MAX_TRIES) throw toPortError(failure);
      }
    }
  };

  async function attempt<R>(work: () => Promise<R>): Promise<R> {
    try {
      prepared ??= prepare(query);
      await prepared;
      return await work();
    } catch (failure) {
      if (StorageMisconfigured.is(failure)) throw unavailable(failure);
      throw failure;
    }
  }

  /** Stops waiting for work that takes too long. The work itself ends by the limits of its stages. */
  function withTimeout<R>(work: Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const onTimeout = () => reject(unavailable(new Error(`no response within ${limits.call} ms`)));
      const timer = setTimeout(onTimeout, limits.call);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  return {
    query,

    async call(work) {
      if (isClosed) throw closed();
      try {
        return await withTimeout(attempt(work));
      } catch (failure) {
        prepared = null;
        // A newer version may have changed the format.
        if (isDefect(failure)) await withTimeout(attempt(async () => {}));
        throw failure;
      }
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      await withTimeout(pool.end()).catch(() => {});
      // A silent server never closes its side.
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, limits.connect).unref();
    },
  };
}
