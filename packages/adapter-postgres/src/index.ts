/** @module @animal-store/adapter-postgres */

import { createStorage } from '@animal-store/adapter-kit';
import type { Storage } from '@animal-store/domain/ports';
import { archive } from './archive.ts';
import { meaningOf, toPortError } from './failures.ts';
import { keys } from './keys.ts';
import { createOpening } from './open.ts';
import { pets } from './pets.ts';
import { poolSizes } from './pools.ts';
import { parseUrl } from './url.ts';

export interface PostgresStorageOptions {
  /** Server and database: `postgres://host:5432/animals`. */
  readonly url: string;
  /** What the URL can't say, or says otherwise. */
  readonly pool?: {
    /** Options of Node's `tls.connect`. */
    readonly ssl?: boolean | object;
    /** A function is called by each new connection, such as for a token that expires. */
    readonly password?: string | (() => string | Promise<string>);
    /**
     * The number of connections, 2 or more. Two fifths are for writes.
     *
     * @default 5
     */
    readonly max?: number;
  };
}

/**
 * Storage in PostgreSQL. It connects when it is first used and after every failure, and creates its tables: a server that
 * can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read; TypeError if `pool.max` is too small.
 * @example const storage = createPostgresStorage({ url: 'postgres://localhost:5432/animals' })
 */
export function createPostgresStorage({ url, pool }: PostgresStorageOptions): Storage {
  const server = parseUrl(url, pool);
  return createStorage({
    open: createOpening(server, poolSizes(pool?.max)),
    close: ({ end }) => end(),
    // The pools replace lost connections.
    isLost: (failure) => meaningOf(failure).pools === 'closed',
    toPortError,
    ...{ pets, keys, archive },
    ready: (call) => call.connection.ready(call),
    location: server.location,
    warnings: server.warnings,
  });
}
