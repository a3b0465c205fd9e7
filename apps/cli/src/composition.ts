// First of all imports: tsyringe throws where the Reflect metadata API is missing.
import 'reflect-metadata';
import { hash, randomBytes } from 'node:crypto';
import { adapter as mongodb } from '@animal-store/adapter-mongodb';
import { adapter as sqlite } from '@animal-store/adapter-sqlite';
import { createKeyring, DomainError, type Keyring } from '@animal-store/domain';
import { type PetStorage, StorageMisconfigured } from '@animal-store/domain/ports';
import { type AwaitableCatalogue, createAwaitableCatalogue } from '@animal-store/domain/transport';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';

/** The use cases on a storage, and the storage to close. */
export interface Application {
  readonly catalogue: AwaitableCatalogue;
  readonly keyring: Keyring;
  readonly storage: PetStorage;
  /** The mistake of configuration that an error of the storage shows, in one line; null for one that waiting heals. */
  misconfiguration(error: unknown): string | null;
}

const STORAGE: InjectionToken<PetStorage> = Symbol('storage');
const CATALOGUE: InjectionToken<AwaitableCatalogue> = Symbol('catalogue');
const KEYRING: InjectionToken<Keyring> = Symbol('keyring');

/**
 * Puts the use cases on a storage that outlives a command.
 *
 * @throws StorageMisconfigured
 */
export function compose(place: { mongodbUrl: string } | { sqliteFile: string }): Application {
  const container = root.createChildContainer();
  container.register(STORAGE, {
    useFactory: instanceCachingFactory(() =>
      'sqliteFile' in place ? sqlite.open(place.sqliteFile) : mongodb.open(place.mongodbUrl),
    ),
  });
  container.register(CATALOGUE, {
    useFactory: instanceCachingFactory((from) => createAwaitableCatalogue(from.resolve(STORAGE).pets)),
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
    misconfiguration(error) {
      return DomainError.is(error) && StorageMisconfigured.is(error.cause)
        ? `MONGODB_URL: ${error.cause.message}`
        : null;
    },
  };
}
