/** @module @animal-store/adapter-mongodb */

import { createResource } from '@animal-store/adapter-kit';
import type { PetStorage } from '@animal-store/domain/ports';
import { MongoServerSelectionError } from 'mongodb';
import { createMongoArchive } from './archive.ts';
import { openDatabase } from './connection.ts';
import { toPortError } from './failures.ts';
import { createMongoKeyStore } from './keys.ts';
import { createMongoPetStore } from './pets.ts';
import type { CollectionIds } from './schema.ts';
import { parseUrl } from './url.ts';

export interface MongoStorageOptions {
  /** Replica set and database: `mongodb://host:27017/animals` or `mongodb+srv://…`. */
  readonly url: string;
}

/**
 * Storage in MongoDB. It connects when it is first used and after every failure, and creates its collections: a server that
 * can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read or names no database.
 * @example const storage = createMongoStorage({ url: 'mongodb://localhost:27017/animals' })
 */
export function createMongoStorage({ url }: MongoStorageOptions): PetStorage {
  const server = parseUrl(url);
  let known: CollectionIds | null = null;
  const database = createResource({
    async open() {
      const opened = await openDatabase(server.createClient(), known);
      known ??= opened.ids;
      return opened;
    },
    close: ({ client }) => client.close(),
    // A client replaces lost connections, but it never checks a server again that was no member of its set.
    isLost: (failure) => failure instanceof MongoServerSelectionError,
    toPortError: (failure) => toPortError(failure, server.redact),
  });
  return {
    pets: createMongoPetStore(database),
    keys: createMongoKeyStore({
      ...database,
      call: (work) => database.call((opened) => opened.checkWritable().then(() => work(opened))),
    }),
    archive: createMongoArchive(database),
    location: server.location,
    warnings: server.warnings,
    ready: async () => {
      await database.call(({ checkReady }) => checkReady());
    },
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
