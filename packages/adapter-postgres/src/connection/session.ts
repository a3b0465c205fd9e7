import { StorageMisconfigured } from '@animal-store/domain/ports';
import type pg from 'pg';
import type { TimeLimits } from '../time-limits.ts';

/** The settings of every connection, whatever the URL, the role, the database or the server says. */
const SETTINGS = {
  client_encoding: "'UTF8'",
  // An acknowledged commit is on the disk. `remote_apply` promises more.
  synchronous_commit:
    "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END",
  statement_timeout: '$1',
  // An index serves every statement. So its plan is made once, and does not depend on the data.
  plan_cache_mode: "'force_generic_plan'",
  enable_seqscan: "'off'",
  enable_bitmapscan: "'off'",
  // The server estimates each list to be a tenth of all pets. From three million on it would compile the plan of every call.
  jit: "'off'",
};

const START = `SELECT ${Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', ${value}, false)`)},
  current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

/**
 * Prepares a new connection.
 *
 * @throws Error of the driver, or if the server can't be written to.
 * @throws StorageMisconfigured if the database can't hold every text.
 */
export async function startSession(client: pg.ClientBase, { statement, response }: TimeLimits): Promise<void> {
  const query = { text: START, values: [String(statement)], query_timeout: response };
  const { encoding, isReadOnly } = (await client.query(query)).rows[0] as { encoding: string; isReadOnly: boolean };
  if (encoding !== 'UTF8') {
    throw new StorageMisconfigured(`the database has the encoding ${encoding}: create one with the encoding UTF8`);
  }
  // A standby may not have every acknowledged pet yet.
  if (isReadOnly) throw new Error('the server is read-only: a standby, or set to read-only');
}
