/** @module @animal-store/adapter-postgres */

import { createResource } from '@animal-store/adapter-kit';
import type { NewPet } from '@animal-store/domain';
import { requireKnown, requireText, type Storage, StorageMisconfigured } from '@animal-store/domain/ports';
import type { ClientBase } from 'pg';
import { createPostgresArchive } from './archive.ts';
import { kindOf, toPortError } from './failures.ts';
import { createPostgresApiKeyRepository } from './keys.ts';
import { createPetBatches } from './pets.ts';
import { openPools, poolSizes } from './pools.ts';
import { checkReady, openSchema } from './schema.ts';
import { parseUrl } from './url.ts';

export interface PostgresStorageOptions {
  /** Server and database: `postgres://host:5432/animals`. */
  readonly url: string;
  /**
   * It overrides the URL. `ssl` has options of Node's `tls.connect`. A function as `password` is called by each new connection,
   * such as for a token that expires. `max` is the number of connections, 2 or more; absent: 5. Two fifths are for writes.
   */
  readonly pool?: {
    readonly ssl?: boolean | object;
    readonly password?: string | (() => string | Promise<string>);
    readonly max?: number;
  };
}

/**
 * Storage in PostgreSQL. It connects when it is first used and after every failure, and creates its tables: a server that
 * can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read; TypeError if an option has the wrong type, or is unknown.
 * @example const storage = createPostgresStorage({ url: 'postgres://localhost:5432/animals' })
 */
export function createPostgresStorage(options: PostgresStorageOptions): Storage {
  const url = requireText(options, 'url', 'pool');
  requireKnown('pool', options.pool, ['ssl', 'password', 'max']);
  const server = parseUrl(url, options.pool);
  const sizes = poolSizes(options.pool?.max);
  /** The id of the database that this process has used; null if it has used none. */
  let known: string | null = null;
  async function openDatabase(client: ClientBase): Promise<void> {
    known = await openSchema(client, known);
  }
  const database = createResource({
    async open() {
      const connection = await openPools(server, sizes, openDatabase);
      return { ...connection, pets: createPetBatches(connection) };
    },
    close: ({ end }) => end(),
    // The pool replaces lost connections. After a change of the database nothing is written before it is checked again.
    isLost: (failure) => StorageMisconfigured.is(failure) || kindOf(failure) === 'misconfiguration',
    toPortError,
  });
  return {
    pets: {
      add({ name, categoryId, status }, idempotency) {
        const pet = { name, categoryId, status } satisfies Record<keyof NewPet, unknown>;
        return database.call(({ pets }) => pets.create({ ...pet, ...idempotency }));
      },
      find: (id) => database.call(({ pets }) => pets.find({ id })),
      list: (selection) =>
        database.call(({ pets }) => (selection.status ? pets.listByStatus(selection) : pets.list(selection))),
    },
    keys: createPostgresApiKeyRepository(database),
    archive: createPostgresArchive(database),
    location: server.location,
    warnings: server.warnings,

    ready: () => database.call((connection) => checkReady(connection, known)),
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
