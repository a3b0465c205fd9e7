import { unavailable } from '@animal-store/domain/ports';
import type pg from 'pg';
import type { Query } from './connection.ts';
import { statement } from './statement.ts';

/**
 * Connections on which a write got no response, with their processes on the server. The server keeps a connection until its
 * commit ends, whatever the client does: if each such write got a new one, they would take all connections of the server.
 */
export type Abandoned = Map<pg.PoolClient, number>;

/** What processes of the server wait for that still work on a statement. */
const WORKING = statement(`SELECT coalesce(wait_event, 'nothing') FROM pg_stat_activity
  WHERE pid = ANY ($1::integer[]) AND pid <> pg_backend_pid() AND state = 'active' AND backend_type = 'client backend'`);

/**
 * Closes abandoned connections whose statement has ended on the server.
 *
 * @throws DomainError `storage_unavailable` while the server works on one of them.
 */
export async function closeEnded(abandoned: Abandoned, read: Query): Promise<void> {
  const asked = [...abandoned.keys()];
  const events = await read<string>(WORKING, [...abandoned.values()]);
  if (events.length > 0) {
    const reason = events.includes('SyncRep') ? 'a synchronous standby' : events.join(', ');
    throw unavailable(new Error(`a write still waits on the server for ${reason}`));
  }
  for (const client of asked) if (abandoned.delete(client)) client.release(true);
}
