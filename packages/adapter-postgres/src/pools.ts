import { setTimeout as sleep } from 'node:timers/promises';
import { BUDGET, type Limits, timeLeft } from '@animal-store/adapter-kit';
import pg from 'pg';
import { createAbandoned } from './abandoned.ts';
import { Client, reset, types } from './client.ts';
import { AnotherDatabase, meaningOf, toConnectionError } from './failures.ts';
import { limitStatements, type Session, startSession } from './session.ts';
import type { Query, Statement } from './statements.ts';
import type { ServerUrl } from './url.ts';

/** In milliseconds. Those of a call are in `BUDGET`. */
export const TIME_LIMITS = {
  /** The pause after which a proxy may have noticed that a server is read-only. */
  pause: 200,
  /** The age at which a connection is replaced, also an idle one: the new one checks the format and the other state. */
  lifetime: 60_000,
};

/** How often a statement is tried that the server rolls back. */
const MAX_TRIES = 10;

/** Both throw errors of the server and of the driver. */
export interface Pools {
  /** Runs a statement that nothing waits for and that changes nothing. */
  readonly read: Query;
  /** Runs a statement that contains `IN_TIME`. */
  readonly write: Query;
}

/**
 * How many of `max` connections are for reads, and how many for writes: no read waits for a write. Each kind of read has one
 * statement in flight, and creations have one.
 *
 * @throws TypeError if there is not a connection of each kind.
 */
export function poolSizes(max = 5): { readonly read: number; readonly write: number } {
  if (!(Number.isInteger(max) && max >= 2)) throw new TypeError('pool.max must be an integer, 2 or more');
  const write = Math.max(1, Math.floor((max * 2) / 5));
  return { read: max - write, write };
}

/**
 * Opens a pool of connections for reads, and one for writes. They replace closed connections.
 *
 * | event             | idle     | busy                                   | abandoned                       |
 * | ----------------- | -------- | -------------------------------------- | ------------------------------- |
 * | a statement       | → busy   | waits                                  | a write: see `createAbandoned`  |
 * | a response        |          | → idle or → closed: see `meaningOf`    | is ignored                      |
 * | no response       | → closed | a read: → closed, a write: → abandoned |                                 |
 * | the age of 60 s   | → closed | → closed with the response             |                                 |
 * | `end`             | → closed | → closed, with the response or without | → closed                        |
 *
 * @param database `open` prepares and checks that of each new connection, `check` throws if it is no longer the same.
 * @throws DomainError `storage_unavailable` if no connection can be made.
 */
export async function openPools(
  { config }: ServerUrl,
  sizes: ReturnType<typeof poolSizes>,
  database: Readonly<Record<'open' | 'check', (client: pg.ClientBase) => Promise<void>>>,
) {
  const sessions = new WeakMap<pg.ClientBase, Session>();
  /** Since pg 8.20 the pool waits for it (https://node-postgres.com/apis/pool). */
  async function onConnect(client: pg.ClientBase): Promise<void> {
    sessions.set(client, await startSession(client));
    await database.open(client);
  }
  const readers = createPool({ ...config, onConnect, max: sizes.read });
  const writers = createPool({ ...config, onConnect, max: sizes.write });

  const read: Query = (statement, values, limits) =>
    repeated(limits, () => run(readers, (client) => send(client, statement, values, limits)));

  const abandoned = createAbandoned(read);

  const write: Query = (statement, values, limits) =>
    repeated(limits, async () => {
      if (abandoned.size > 0) await abandoned.requireIdle(limits);
      return run(writers, async (client) => {
        const session = sessions.get(client) as Session;
        await limitStatements(client, session, limits);
        return send(client, statement, [session.toServerTime(limits.deadline), ...values], limits);
      });
    });

  /** One attempt. Its failure decides what becomes of the connection: see `meaningOf`. */
  async function run<R>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<R>): Promise<R> {
    const client = await connect(pool);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (failure) {
      const { connection, pools } = meaningOf(failure);
      if (connection === 'abandoned') await abandon(pool, client);
      else {
        const found = pools === 'checked' ? await database.check(client).catch((error: Error) => error) : undefined;
        client.release(connection === 'closed' || found !== undefined);
        if (found instanceof AnotherDatabase) throw found;
      }
      throw failure;
    }
  }

  async function abandon(pool: pg.Pool, client: pg.PoolClient): Promise<void> {
    reset(client);
    if (pool === readers) client.release(true);
    // Before `closeIdle`: it asks the server on an idle connection, because there may be no time for opening one.
    const added = pool === writers && abandoned.add(client, sessions.get(client)?.processId);
    closeIdle(readers, writers);
    await added;
  }

  // Pools whose first connection fails hold nothing.
  const first = { deadline: performance.now() + BUDGET.call, hasEnded: false };
  (await repeated(first, () => connect(readers))).release();
  return {
    read,
    write,
    end() {
      abandoned.end();
      return Promise.all([readers.end(), writers.end()]);
    },
  };
}

function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    ...{ Client, types },
    fallback_application_name: 'animal-store',
    connectionTimeoutMillis: BUDGET.connect,
    query_timeout: BUDGET.driver,
    maxLifetimeSeconds: TIME_LIMITS.lifetime / 1_000,
    idleTimeoutMillis: 0,
    // Idle connections keep no process alive, even if the server is silent when they are closed.
    allowExitOnIdle: true,
  });
  // A connection was lost: the pool removes an idle one, and the statement on a busy one fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const connect = (pool: pg.Pool): Promise<pg.PoolClient> =>
  pool.connect().catch((failure) => Promise.reject(toConnectionError(failure)));

/** Sends a statement, unless its callers have given up. */
async function send(client: pg.PoolClient, statement: Statement, values: readonly unknown[], limits: Limits) {
  const query_timeout = Math.min(statement.query_timeout ?? BUDGET.driver, timeLeft(limits));
  const query = { ...statement, values: values as unknown[], rowMode: 'array' as const, query_timeout };
  const { rows } = await client.query(query);
  return rows[0]?.[0] ?? null;
}

/** Tries again if that may help: see `meaningOf`. */
async function repeated<T>({ deadline }: Limits, attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (failure) {
      const { repeated } = meaningOf(failure);
      const isRepeated = repeated === 'after a pause' || (repeated === 'at once' && tried < MAX_TRIES);
      // Later the caller would get a timeout instead of the failure.
      if (!isRepeated || performance.now() > deadline - 2 * BUDGET.rest) throw failure;
      if (repeated === 'after a pause') await sleep(TIME_LIMITS.pause);
    }
  }
}

/** The server may be silent on all of them. Calls that come later get none: a pool serves its callers in their order. */
function closeIdle(...pools: pg.Pool[]): void {
  for (const pool of pools) {
    for (let count = pool.idleCount - pool.waitingCount; count > 0; count -= 1) {
      connect(pool).then(
        (client) => {
          // `release(true)` alone sends Terminate and waits for it.
          reset(client);
          client.release(true);
        },
        () => {},
      );
    }
  }
}
