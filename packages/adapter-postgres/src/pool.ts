import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '@animal-store/domain/ports';
import pg from 'pg';
import { afterFailure, causeOfConnecting, codeOf, READ_ONLY } from './failures.ts';
import type { Statement } from './statement.ts';
import { TIME_LIMITS } from './time-limits.ts';

/** How often a statement is tried that the server wants to be repeated. */
const MAX_TRIES = 10;

/** Returns a pool, which replaces lost connections. `onConnect` prepares each new one, and rejects it if it is unsuitable. */
export function createPool(
  config: pg.ClientConfig,
  max: number,
  onConnect: (client: pg.ClientBase) => Promise<void>,
): pg.Pool {
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

/**
 * Takes a connection from a pool. If the server is read-only, a proxy may lead the next connection to another one.
 *
 * @throws DomainError `storage_unavailable`
 */
export async function takeConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  for (const begin = performance.now(); ; await sleep(TIME_LIMITS.pause)) {
    try {
      return await pool.connect();
    } catch (failure) {
      const isLast = performance.now() - begin > TIME_LIMITS.elsewhere;
      if (isLast || codeOf(failure) !== READ_ONLY) throw unavailable(causeOfConnecting(failure));
    }
  }
}

/**
 * Runs a statement, which is a transaction of its own, and again if the server wants it.
 *
 * @param onLost Takes a connection on which the server has not responded. Its error, if any, replaces the failure.
 * @returns The first column of each row, as the driver decodes it.
 * @throws Error of the server or the driver; DomainError `storage_unavailable` if no connection can be made.
 */
export async function run<T>(
  pool: pg.Pool,
  statement: Statement,
  values: unknown[],
  onLost: (client: pg.PoolClient) => unknown,
): Promise<T[]> {
  const begin = performance.now();
  for (let tried = 1; ; tried += 1) {
    const client = await takeConnection(pool);
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
      const { connection, isRepeated } = afterFailure(failure);
      if (connection === 'lost') await onLost(client);
      else client.release(connection === 'closed');
      if (!isRepeated || tried === MAX_TRIES) throw failure;
    }
  }
}

/** Closes the idle connections of a pool. */
export async function dropIdle(pool: pg.Pool): Promise<void> {
  while (pool.idleCount > 0) (await pool.connect()).release(true);
}
