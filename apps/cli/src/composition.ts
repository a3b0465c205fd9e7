// First of all imports: tsyringe throws where the Reflect metadata API is missing.
import 'reflect-metadata';
import { hash, randomBytes } from 'node:crypto';
import { createMongoStorage } from '@animal-store/adapter-mongodb';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { type Catalogue, createCatalogue, createKeyring, type Keyring, type Storage } from '@animal-store/domain';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';

/** The use cases on a storage, and the storage to close. */
export interface Application {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  readonly storage: Storage;
}

const STORAGE: InjectionToken<Storage> = Symbol('storage');
const CATALOGUE: InjectionToken<Catalogue> = Symbol('catalogue');
const KEYRING: InjectionToken<Keyring> = Symbol('keyring');

/**
 * Puts the use cases on a storage that outlives a command.
 *
 * @throws Error One line without credentials, where the URL or the file can't be used.
 */
export function compose(place: { mongodbUrl: string } | { sqliteFile: string }): Application {
  const container = root.createChildContainer();
  container.register(STORAGE, {
    useFactory: instanceCachingFactory(() =>
      'mongodbUrl' in place
        ? createMongoStorage({ url: place.mongodbUrl })
        : createSqliteStorage({ file: place.sqliteFile }),
    ),
  });
  container.register(CATALOGUE, {
    useFactory: instanceCachingFactory((from) => createCatalogue(from.resolve(STORAGE).pets)),
  });
  container.register(KEYRING, {
    useFactory: instanceCachingFactory((from) =>
      createKeyring({
        keys: from.resolve(STORAGE).keys,
        digest: (text) => hash('sha256', text, 'hex'),
        randomBytes,
        clock: Date.now,
      }),
    ),
  });
  return {
    catalogue: container.resolve(CATALOGUE),
    keyring: container.resolve(KEYRING),
    storage: container.resolve(STORAGE),
  };
}
