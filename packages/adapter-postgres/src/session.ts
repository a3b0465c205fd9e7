import { BUDGET } from '@animal-store/adapter-kit';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import type pg from 'pg';
import { POOLER, readOnly } from './failures.ts';

/**
 * The settings of every connection, whatever the URL, the role or the database says. The limit of a statement, which includes
 * its waits for locks, comes first, because that of the role would end the others. An index serves every statement, so that plans don't depend on the data.
 */
const START = `SET statement_timeout = ${BUDGET.server}; SET lock_timeout = 0; SET idle_session_timeout = 0;
  SET row_security = off; SET client_encoding = 'UTF8'; SET default_transaction_isolation = 'read committed';
  SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
  SELECT set_config('animal_store.clients', coalesce(current_setting('animal_store.clients', true), '') || '+', false)
      AS clients,
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
      WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    pg_backend_pid() AS pid`;

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
  if (isReadOnly) throw readOnly('the server is read-only: a standby, or set to read-only');
  return pid;
}
