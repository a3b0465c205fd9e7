import { DomainError } from '@animal-store/domain';
import {
  type PetStorage,
  type StorageAdapter,
  type StorageEvents,
  StorageMisconfigured,
} from '@animal-store/domain/ports';
import { ConfigurationError } from './configuration-error.ts';
import { readEnvironment } from './read-environment.ts';
import {
  type MemoryPolicy,
  memoryWarnings,
  readStorageSettings,
  STORAGE_VARIABLES,
  type StorageSettings,
} from './storage-settings.ts';
import { STORAGES, type StorageEntry } from './storages.ts';

/** A storage whose adapter is loaded and that can be opened. */
export interface LoadedStorage extends Pick<StorageAdapter, 'description'> {
  /** @throws ConfigurationError if the settings can't be right. A server that can't be reached is no error here. */
  open(events?: StorageEvents): PetStorage;
}

/** Loads the adapter of a storage. */
export async function loadStorage(settings: StorageSettings): Promise<LoadedStorage> {
  const entry: StorageEntry = STORAGES[settings.name];
  const { adapter } = await entry.load();
  return {
    description: adapter.description,
    open(events) {
      try {
        return adapter.open(settings.setting, events);
      } catch (error) {
        const message = misconfigurationOf(error, settings);
        throw message === null ? error : new ConfigurationError(message, { cause: error });
      }
    },
  };
}

/** An open storage. */
export interface OpenStorage {
  readonly storage: PetStorage;
  /** Where pets are stored: `MongoDB`. */
  readonly description: string;
  /** Misspelled variables, insecure settings and storage in memory, a sentence each for the operator. */
  readonly warnings: readonly string[];
  /** The configuration error that an error of the storage shows, see {@link misconfigurationOf}. */
  readonly misconfiguration: (error: unknown) => string | null;
}

/**
 * Opens the storage that an environment names, for an application with no other settings.
 *
 * @throws ConfigurationError
 */
export async function openStorage(environment: NodeJS.ProcessEnv, memory: MemoryPolicy): Promise<OpenStorage> {
  const { settings, warnings } = readEnvironment(environment, STORAGE_VARIABLES, (given, errors) =>
    readStorageSettings(given, memory, errors),
  );
  const { description, open } = await loadStorage(settings);
  const storage = open();
  return {
    storage,
    description,
    warnings: [...warnings, ...storageWarnings(storage, settings), ...memoryWarnings(settings)],
    misconfiguration: (error) => misconfigurationOf(error, settings),
  };
}

/** The warnings of a storage, with the variable of its settings. */
export function storageWarnings({ warnings = [] }: PetStorage, { variable }: StorageSettings): string[] {
  return warnings.map((warning) => `${variable}: ${warning}`);
}

/**
 * The configuration error that an error of the storage shows: waiting does not help, the settings must change.
 *
 * @returns One line for the operator, without credentials; null for every other error.
 */
export function misconfigurationOf(error: unknown, { name, variable }: StorageSettings): string | null {
  const cause = DomainError.is(error) ? error.cause : error;
  return StorageMisconfigured.is(cause) ? `${variable ?? `STORAGE=${name}`}: ${(cause as Error).message}` : null;
}
