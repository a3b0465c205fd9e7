/** @module @animal-store/adapter-mongodb */

import { createResource } from '@animal-store/adapter-kit';
import type { Storage } from '@animal-store/domain/ports';
import { type MongoClient, MongoServerSelectionError } from 'mongodb';
import { createMongoArchive } from './archive.ts';
import { openDatabase } from './connection.ts';
import type { NewDocument } from './documents.ts';
import { toPortError } from './failures.ts';
import { createMongoApiKeyRepository } from './keys.ts';
import type { CollectionIds } from './schema.ts';
import { parseUrl, placeOf } from './url.ts';

/**
 * The URL of a replica set and its database, `mongodb://host:27017/animals` or `mongodb+srv://…`; or a client of the caller,
 * connected or not, which the storage never closes.
 */
export type MongoStorageOptions =
  | { readonly url: string }
  | { readonly client: MongoClient; readonly database: string };

/**
 * Storage in MongoDB. It connects when it is first used and after every failure, and creates its collections: a server that
 * can't be reached is no error here, but `storage_unavailable` in each call until it can.
 *
 * @throws StorageMisconfigured if the URL can't be read or names no database, or the client has unsuitable options;
 * TypeError if the client is that of another copy of the driver.
 * @example const storage = createMongoStorage({ url: 'mongodb://localhost:27017/animals' })
 */
export function createMongoStorage(options: MongoStorageOptions): Storage {
  const place = 'client' in options ? placeOf(options.client, options.database) : parseUrl(options.url);
  let known: CollectionIds | null = null;
  const database = createResource({
    async open() {
      const opened = await openDatabase(place, known);
      known ??= opened.ids;
      return opened;
    },
    close: ({ close }) => close(),
    // A client replaces lost connections. But it drops a server that is not a member of the set, and never tries it again.
    isLost: (failure) => failure instanceof MongoServerSelectionError,
    toPortError: (failure) => toPortError(failure, place),
  });
  return {
    pets: {
      add({ name, categoryId, status }, idempotency) {
        const pet = { name, categoryId, status, idempotency } satisfies Record<keyof NewDocument, unknown>;
        return database.call(({ insertions }) => insertions.create(pet));
      },
      find: (id) => database.call(({ reads }) => reads.find(id)),
      list: (selection) => database.call(({ reads }) => reads.list(selection)),
    },
    keys: createMongoApiKeyRepository(database),
    archive: createMongoArchive(database),
    location: place.location,
    warnings: place.warnings,
    ready: () => database.call(({ checkReady }) => checkReady()),
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
