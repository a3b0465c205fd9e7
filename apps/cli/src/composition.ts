// First of all imports: tsyringe throws where the Reflect metadata API is missing.
import 'reflect-metadata';
import { hash, randomBytes } from 'node:crypto';
import { createMongoStorage, misconfiguration } from '@animal-store/adapter-mongodb';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { type Catalogue, createCatalogue, createKeyring, type Keyring, type Storage } from '@animal-store/domain';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';

/** The use cases on a storage, and the storage to close. */
export interface Application {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  readonly storage: Storage;
  /** Where the storage is, without user and password. */
  readonly storageAddress: string;
  /** The mistake of configuration that an error of the storage shows, in one line; null for one that waiting heals. */
  misconfiguration(error: unknown): string | null;
}

interface Opened {
  readonly storage: Storage;
  readonly address: string;
}

const OPENED: InjectionToken<Opened> = Symbol('opened adapter');
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
  container.register(OPENED, { useFactory: instanceCachingFactory(() => opened(place)) });
  container.register(STORAGE, { useFactory: (from) => from.resolve(OPENED).storage });
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
    storageAddress: container.resolve(OPENED).address,
    misconfiguration(error) {
      const mistake = misconfiguration(error);
      return mistake === null ? null : `MONGODB_URL: ${mistake}`;
    },
  };
}

function opened(place: { mongodbUrl: string } | { sqliteFile: string }): Opened {
  if ('sqliteFile' in place) {
    return { storage: createSqliteStorage({ file: place.sqliteFile }), address: place.sqliteFile };
  }
  const storage = createMongoStorage({ url: place.mongodbUrl });
  return { storage, address: storage.servers };
}
