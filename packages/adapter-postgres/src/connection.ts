import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import pg from 'pg';
import { causeOfConnecting, codeOf, isRejection, mustBeRepeated, POOLER, READ_ONLY } from './failures.ts';
import type { Server } from './url.ts';

/** A statement. Its first column is the result. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Every connection prepares a statement once. Its name is a hash, so that a name never stands for two texts. */
export function statement(text: string): Statement {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text };
}

/**
 * A column of statements that may change no row: a record in the log of the server. Without one their commit would not wait
 * for synchronous standbys, and acknowledge rows that only this server has, such as those of a crash before they confirmed.
 */
export const LOGGED = "pg_logical_emit_message(true, 'animal_store', '')";

/**
 * Runs a statement, which is a transaction of its own.
 *
 * @returns The first column of each row, as the driver decodes it.
 * @throws Error of the server or the driver; DomainError `storage_unavailable` if no connection can be made.
 */
export type Query = <T>(statement: Statement, ...values: unknown[]) => Promise<T[]>;

/** Statements that may wait for a standby go to `write`. */
export interface Connection {
  readonly read: Query;
  readonly write: Query;
}

/** In milliseconds. A call ends after 2.2 seconds, and goes on waiting neither for connections nor for tables. */
export const TIME_LIMITS = {
  /** Opening a connection, the handshakes of TLS and authentication included. */
  connect: 4_000,
  /** Creating the tables. */
  create: 4_000,
  /** The wait of a call for a connection. */
  queue: 2_000,
  /** The time in which a call that was led to a read-only server tries others, and its pause before each. */
  elsewhere: 1_500,
  pause: 200,
  /** The work of a statement on the server, waiting for locks included. */
  statement: 1_500,
  /** The time from sending a statement to its result. */
  response: 1_900,
  idle: 60_000,
  /** The age at which a connection is replaced: the new one checks the format and the other state. */
  lifetime: 60_000,
};

/** Each kind of read has one statement in flight, and creations have one. No read waits for a write. */
const CONNECTIONS = { max: 5, write: 2 };

/** How often a statement is tried that the server wants to be repeated. */
const MAX_TRIES = 10;

/**
 * The settings of every connection, whatever the URL, the role or the database says. The limit of time comes first, because
 * that of the role would end the others. An index serves every statement, so that plans don't depend on the data.
 */
const START = `SET statement_timeout = ${TIME_LIMITS.statement}; SET lock_timeout = 0; SET idle_session_timeout = 0;
  SET row_security = off; SET client_encoding = 'UTF8'; SET default_transaction_isolation = 'read committed';
  SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
  SELECT set_config('animal_store.clients', coalesce(current_setting('animal_store.clients', true), '') || '+', false)
      AS clients,
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
      WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    pg_backend_pid() AS pid`;

/** What processes of the server wait for that still work on a statement. */
const WORKING = statement(`SELECT coalesce(wait_event, 'nothing') FROM pg_stat_activity
  WHERE pid = ANY ($1::integer[]) AND pid <> pg_backend_pid() AND state = 'active' AND backend_type = 'client backend'`);

/**
 * Sets a new connection up, and returns the id of its process on the server.
 *
 * @throws StorageMisconfigured if the database can't hold every text, or the session on the server is that of another client.
 * @throws Error if the server can't be written to.
 */
export async function startSession(client: pg.ClientBase): Promise<number> {
  // A query of several statements has several results.
  const results = (await client.query(START)) as unknown as pg.QueryResult<
    Readonly<{ clients: string; encoding: string; isReadOnly: boolean; pid: number }>
  >[];
  const { clients, encoding, isReadOnly, pid = 0 } = results.at(-1)?.rows[0] ?? {};
  if (clients !== '+') throw new StorageMisconfigured(`${POOLER}: two clients have had one session of the server`);
  if (encoding !== 'UTF8') {
    throw new StorageMisconfigured(`the database has the encoding ${encoding}: create one with the encoding UTF8`);
  }
  // A standby may not have every acknowledged pet yet.
  if (isReadOnly) {
    const failure = new pg.DatabaseError('the server is read-only: a standby, or set to read-only', 0, 'error');
    throw Object.assign(failure, { code: READ_ONLY });
  }
  return pid;
}

/**
 * Returns a function that opens a pool of connections.
 *
 * @param open Opens the database of a new connection, and returns its id. `known` is the id that it returned before, also for
 * an earlier pool.
 */
export function createConnect(
  { config }: Server,
  open: (client: pg.ClientBase, known: string | null) => Promise<string>,
  max = CONNECTIONS.max,
) {
  if (!(Number.isInteger(max) && max >= 2)) throw new TypeError('pool.max must be an integer, 2 or more');
  const forWrites = Math.max(1, Math.floor((max * CONNECTIONS.write) / CONNECTIONS.max));
  let known: string | null = null;
  const processIds = new WeakMap<pg.ClientBase, number>();

  async function onConnect(client: pg.ClientBase): Promise<void> {
    processIds.set(client, await startSession(client));
    known = await open(client, known);
  }

  function createPool(max: number): pg.Pool {
    const pool = new pg.Pool({
      ...config,
      fallback_application_name: 'animal-store',
      max,
      connectionTimeoutMillis: TIME_LIMITS.connect,
      query_timeout: TIME_LIMITS.response,
      idleTimeoutMillis: TIME_LIMITS.idle,
      maxLifetimeSeconds: TIME_LIMITS.lifetime / 1_000,
      keepAlive: true,
      // Idle connections keep no process alive, even if the server is silent when they are closed.
      allowExitOnIdle: true,
      // Since pg 8.20 the pool waits for it (https://node-postgres.com/apis/pool).
      onConnect,
    });
    // A connection was lost: the pool removes an idle one, and the statement on a busy one fails.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  }

  async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
    for (const begin = performance.now(); ; await sleep(TIME_LIMITS.pause)) {
      try {
        return await pool.connect();
      } catch (failure) {
        const isLast = performance.now() - begin > TIME_LIMITS.elsewhere;
        if (isLast || codeOf(failure) !== READ_ONLY) throw unavailable(causeOfConnecting(failure));
      }
    }
  }

  /** The server may be silent on every connection. */
  async function dropIdle(pool: pg.Pool): Promise<void> {
    while (pool.idleCount > 0) (await pool.connect()).release(true);
  }

  return async () => {
    const [readers, writers] = [createPool(max - forWrites), createPool(forWrites)];
    /** Connections that wait no longer for the end of a write, with their processes on the server. */
    const abandoned = new Map<pg.PoolClient, number>();

    /** @param onLost Takes a connection on which the server has not responded. */
    const createQuery =
      (pool: pg.Pool, onLost: (client: pg.PoolClient) => unknown): Query =>
      async (statement, ...values) => {
        const begin = performance.now();
        for (let tried = 1; ; tried += 1) {
          const client = await connect(pool);
          if (performance.now() - begin > TIME_LIMITS.queue) {
            // The caller has given up.
            client.release();
            throw unavailable(new Error(`no connection within ${TIME_LIMITS.queue} ms`));
          }
          try {
            const { rows } = await client.query({ ...statement, values, rowMode: 'array' });
            client.release();
            return rows.map(([value]) => value);
          } catch (failure) {
            const [code, repeat] = [codeOf(failure), mustBeRepeated(failure)];
            if (code !== '') client.release(code === READ_ONLY || !(repeat || isRejection(failure)));
            else {
              for (const each of [readers, writers]) dropIdle(each).catch(() => {});
              await onLost(client);
            }
            if (!repeat || tried === MAX_TRIES) throw failure;
          }
        }
      };

    const read = createQuery(readers, (client) => client.release(true));
    const writeNow = createQuery(writers, (client) => {
      if (writers.ending) return client.release(true);
      abandoned.set(client, processIds.get(client) ?? 0);
      return endAbandoned();
    });
    const write: Query = async (...call) => {
      if (abandoned.size > 0) await endAbandoned();
      return writeNow(...call);
    };

    /**
     * Releases abandoned connections that the server has left, too: it keeps one until its commit ends, whatever the client
     * does, so more and more would take all connections of the server.
     *
     * @throws DomainError `storage_unavailable` while the server works on one of them.
     */
    async function endAbandoned(): Promise<void> {
      const asked = [...abandoned.keys()];
      const events = await read<string>(WORKING, [...abandoned.values()]);
      if (events.length > 0) {
        const reason = events.includes('SyncRep') ? 'a synchronous standby' : events.join(', ');
        throw unavailable(new Error(`a write still waits on the server for ${reason}`));
      }
      for (const client of asked) if (abandoned.delete(client)) client.release(true);
    }

    // Pools whose first connection fails hold nothing.
    (await connect(readers)).release();
    return {
      read,
      write,
      id: known,
      end() {
        for (const client of abandoned.keys()) client.release(true);
        abandoned.clear();
        return Promise.all([readers.end(), writers.end()]);
      },
    };
  };
}
