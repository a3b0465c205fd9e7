import { BUDGET, type Limits, timeLeft } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import type pg from 'pg';
import { POOLER, readOnly } from './failures.ts';

/**
 * The settings of every connection, whatever the URL, the role or the database says. The limit of a statement, which includes
 * its waits for locks, comes first, because that of the role would end the others. An index serves every statement, so that
 * plans don't depend on the data. The server ends a session 25 s after it has lost its client, also while it sends.
 */
const START = `SET statement_timeout = ${BUDGET.server}; SET lock_timeout = 0; SET idle_session_timeout = 0;
  SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = 25000;
  SET row_security = off; SET client_encoding = 'UTF8'; SET default_transaction_isolation = 'read committed';
  SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
  SELECT set_config('animal_store.clients', coalesce(current_setting('animal_store.clients', true), '') || '+', false)
      AS clients,
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
      WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    -- PostgreSQL 17 introduced it.
    CASE WHEN current_setting('transaction_timeout', true) <> '0' THEN set_config('transaction_timeout', '0', false) END,
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    pg_backend_pid() AS pid, extract(epoch FROM clock_timestamp())::text AS seconds`;

/** What is known of a session of the server. */
export interface Session {
  readonly processId: number;
  /** Its time limit of a statement, in milliseconds. */
  statementTimeout: number;
  /** A time on the clock of `performance.now` as the clock of the server shows it, in seconds since the epoch, or earlier. */
  toServerTime(time: number): number;
}

/**
 * Sets a new connection up, and returns its session.
 *
 * @throws StorageMisconfigured if the database can't hold every text, or the session on the server is that of another client.
 * @throws Error if the server can't be written to.
 */
export async function startSession(client: pg.ClientBase): Promise<Session> {
  // A query of several statements has several results.
  const results = (await client.query(START)) as unknown as pg.QueryResult<
    Readonly<{ clients: string; encoding: string; isReadOnly: boolean; pid: number; seconds: string }>
  >[];
  const received = performance.now();
  const { clients, encoding, isReadOnly, pid: processId = 0, seconds } = results.at(-1)?.rows[0] ?? {};
  if (clients !== '+') throw new StorageMisconfigured(`${POOLER}: two clients have had one session of the server`);
  if (encoding !== 'UTF8') {
    throw new StorageMisconfigured(`the database has the encoding ${encoding}: create one with the encoding UTF8`);
  }
  // A standby may not have every acknowledged pet yet.
  if (isReadOnly) throw readOnly('the server is read-only: a standby, or set to read-only');
  const toServerTime = (time: number) => Number(seconds) + (time - received) / 1_000;
  return { processId, statementTimeout: BUDGET.server, toServerTime };
}

/** The shortest limit of a statement, in milliseconds. */
const SHORTEST = 100;

/**
 * Gives the statements of a session what their call has left: the server ends a statement that waits for a lock before its call
 * ends.
 *
 * @throws DomainError `storage_unavailable` if that is too short.
 */
export async function limitStatements(client: pg.ClientBase, session: Session, limits: Limits): Promise<void> {
  const left = Math.floor((timeLeft(limits) - BUDGET.rest) / SHORTEST) * SHORTEST;
  if (left <= 0) throw unavailable(new Error('no connection in time'));
  const limit = Math.min(BUDGET.server, left);
  // A limit that is a little shorter saves a statement.
  if (session.statementTimeout <= limit && session.statementTimeout > limit / 2) return;
  await client.query({ text: `SET statement_timeout = ${limit}`, query_timeout: left } as pg.QueryConfig);
  session.statementTimeout = limit;
}
