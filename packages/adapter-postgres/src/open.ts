import type { Limits } from '@animal-store/adapter-kit';
import type pg from 'pg';
import { createPetBatches } from './pets.ts';
import { openPools, type poolSizes } from './pools.ts';
import { checkReady, checkTables, type Known, openSchema } from './schema.ts';
import type { ServerUrl } from './url.ts';

/** An open database: what the methods of the ports work on. */
export type Database = Awaited<ReturnType<ReturnType<typeof createOpening>>>;

/** Returns a function that opens the database of a server, always the one that it has opened first. */
export function createOpening(server: ServerUrl, sizes: ReturnType<typeof poolSizes>) {
  /** The database that this process has used; null if it has used none. */
  let known: Known | null = null;

  const database = {
    async open(client: pg.ClientBase): Promise<void> {
      known = await openSchema(client, known);
    },
    check: (client: pg.ClientBase) => checkTables(client, known),
  };

  return async () => {
    const pools = await openPools(server, sizes, database);
    const ready = (limits: Limits) => checkReady(pools, known, limits);
    return { ...pools, batches: createPetBatches(pools), ready };
  };
}
