import type pg from 'pg';
import { type Abandoned, closeEnded } from './abandoned.ts';
import { createPool, dropIdle, run, takeConnection } from './pool.ts';
import { startSession } from './session.ts';
import type { Statement } from './statement.ts';
import type { Server } from './url.ts';

/** Runs a statement on a connection of a pool, as `run` of `pool.ts` does. */
export type Query = <T>(statement: Statement, ...values: unknown[]) => Promise<T[]>;

/** Statements that may wait for a standby go to `write`. */
export interface Connection {
  readonly read: Query;
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
 * Opens a pool of connections for reads, and one for writes.
 *
 * @param openDatabase Prepares and checks the database of each new connection.
 */
export async function openConnection(
  { config }: Server,
  sizes: ReturnType<typeof poolSizes>,
  openDatabase: (client: pg.ClientBase) => Promise<void>,
) {
  const processIds = new WeakMap<pg.ClientBase, number>();
  async function onConnect(client: pg.ClientBase): Promise<void> {
    processIds.set(client, await startSession(client));
    await openDatabase(client);
  }
  const readers = createPool(config, sizes.read, onConnect);
  const writers = createPool(config, sizes.write, onConnect);
  const abandoned: Abandoned = new Map();

  /** The server may be silent on every connection. */
  function dropAllIdle(): void {
    for (const pool of [readers, writers]) dropIdle(pool).catch(() => {});
  }

  function onLostRead(client: pg.PoolClient): void {
    dropAllIdle();
    client.release(true);
  }

  async function onLostWrite(client: pg.PoolClient): Promise<void> {
    dropAllIdle();
    if (writers.ending) return client.release(true);
    abandoned.set(client, processIds.get(client) ?? 0);
    await closeEnded(abandoned, read);
  }

  const read: Query = (statement, ...values) => run(readers, statement, values, onLostRead);
  const write: Query = async (statement, ...values) => {
    if (abandoned.size > 0) await closeEnded(abandoned, read);
    return run(writers, statement, values, onLostWrite);
  };

  // Pools whose first connection fails hold nothing.
  (await takeConnection(readers)).release();
  return {
    read,
    write,
    end() {
      for (const client of abandoned.keys()) client.release(true);
      abandoned.clear();
      return Promise.all([readers.end(), writers.end()]);
    },
  };
}
