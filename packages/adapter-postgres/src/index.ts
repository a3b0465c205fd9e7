/** @module @animal-store/adapter-postgres */

import type { PetStorage } from '@animal-store/domain/ports';
import { createConnection } from './connection/connection.ts';
import { parseUrl } from './connection/connection-url.ts';
import { createPostgresKeyStore } from './keys/postgres-key-store.ts';
import { createPetCreation } from './pets/pet-creation.ts';
import { createPetReads } from './pets/pet-reads.ts';
import { checkWritable, prepareSchema } from './schema.ts';
import { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

export { TIME_LIMITS, type TimeLimits } from './time-limits.ts';

export interface PostgresStorageOptions {
  /** Server and database: `postgres://host:5432/animals`. */
  readonly url: string;
  /** Limits that differ from {@link TIME_LIMITS}. */
  readonly timeLimits?: Partial<TimeLimits>;
}

/**
 * Storage in PostgreSQL. It connects when it is first used and after every failure, and creates its tables: a server that
 * can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read.
 * @example const storage = createPostgresStorage({ url: 'postgres://localhost:5432/animals' })
 */
export function createPostgresStorage(options: PostgresStorageOptions): PetStorage {
  const limits = { ...TIME_LIMITS, ...options.timeLimits };
  const server = parseUrl(options.url);
  const clock = () => performance.now();
  const connection = createConnection(server.url, limits, prepareSchema);
  return {
    pets: { add: createPetCreation(connection, { limits, clock }), ...createPetReads(connection, limits) },
    keys: createPostgresKeyStore(connection, limits),
    location: server.location,
    warnings: server.warnings,

    ready: () => connection.call(() => checkWritable(connection.query)),

    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
