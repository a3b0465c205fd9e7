/** @module @animal-store/adapter-mongodb */

import { createStorage } from '@animal-store/adapter-kit';
import type { Storage } from '@animal-store/domain/ports';
import type { MongoClient } from 'mongodb';
import { archive } from './archive.ts';
import { isLost, toPortError } from './failures.ts';
import { keys } from './keys.ts';
import { createOpening } from './open.ts';
import { pets } from './pets.ts';
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
  return createStorage({
    open: createOpening(place),
    close: ({ close }) => close(),
    isLost,
    toPortError: (failure) => toPortError(failure, place),
    ...{ pets, keys, archive },
    ready: ({ connection: { checkReady } }) => checkReady(),
    location: place.location,
    warnings: place.warnings,
  });
}
