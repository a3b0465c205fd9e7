import { BUDGET, type Limits } from '@animal-store/adapter-kit';
import { DomainError } from '@animal-store/domain';
import { unavailable } from '@animal-store/domain/ports';
import type pg from 'pg';
import { toPortError } from './failures.ts';
import { type Query, statement } from './statements.ts';

/** What processes of the server wait for that still work on a statement; null if none does. */
const WAIT_EVENTS = {
  // A transaction has a lock on its own number until its commit ends. `state` is missing if `track_activities` is off.
  ...statement(`SELECT string_agg(coalesce(wait_event, 'nothing'), ', ') FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE pid = ANY ($1::integer[]) AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND locktype = 'virtualxid' AND granted`),
  // A silent connection is not kept from the reads for longer.
  query_timeout: 2 * BUDGET.rest,
};

/**
 * Connections on which a write got no response. They are reset, but the server keeps them until their commits end: if each such
 * write got a new one, they would take all connections of the server. So they keep their places in the pool, and each later
 * write first gives these up, or fails while the server works on one of them.
 */
export function createAbandoned(read: Query) {
  /** Their processes on the server. */
  const processIds = new Map<pg.PoolClient, number | undefined>();
  let isEnded = false;

  /** Closes them. Throws `storage_unavailable` while the server works on one of them. */
  async function requireIdle(limits: Limits): Promise<void> {
    const clients = [...processIds.keys()];
    const asked = read<string | null>(WAIT_EVENTS, [[...processIds.values()]], limits);
    // This error comes from WAIT_EVENTS, not from the write. Convert it, or `repeated` would run the write again.
    const events = await asked.catch((failure) => {
      const error = toPortError(failure);
      throw DomainError.is(error) ? error : unavailable(error);
    });
    if (events !== null) {
      const reason = events.includes('SyncRep') ? 'a synchronous standby' : events;
      throw unavailable(new Error(`a write still waits on the server for ${reason}`));
    }
    for (const client of clients) if (processIds.delete(client)) client.release(true);
  }

  return {
    /** How many there are. */
    get size() {
      return processIds.size;
    },

    requireIdle,

    /** Adds a connection, and closes all unless the server works on one. */
    async add(client: pg.PoolClient, processId: number | undefined): Promise<void> {
      if (isEnded) return client.release(true);
      processIds.set(client, processId);
      await requireIdle({ deadline: performance.now() + BUDGET.rest, hasEnded: false });
    },

    /** Closes them, and later ones at once. */
    end(): void {
      isEnded = true;
      for (const client of processIds.keys()) client.release(true);
      processIds.clear();
    },
  };
}
