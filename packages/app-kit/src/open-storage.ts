import { DomainError } from '@animal-store/domain';
import { type PetStorage, StorageMisconfigured } from '@animal-store/domain/ports';
import { ConfigurationError } from './configuration-error.ts';
import { readEnvironment } from './read-environment.ts';
import { readStorageSettings, type StorageSettings } from './storage-settings.ts';
import { findStorages, storageChoices } from './storages.ts';

export interface OpenStorage {
  readonly storage: PetStorage;
  /** Where pets are stored: `MongoDB`. */
  readonly description: string;
  /** Insecure settings, and what else the operator should know: a sentence each, with the name of the variable. */
  readonly warnings: readonly string[];
  /**
   * The configuration error that an error of the storage shows: waiting does not help, the settings must change.
   *
   * @returns One line for the operator, without credentials; null for every other error.
   */
  readonly misconfiguration: (error: unknown) => string | null;
}

/**
 * Loads the adapter of a storage, and opens it. A server that can't be reached is no error here.
 *
 * @throws ConfigurationError if the settings can't be right.
 */
export async function openStorage({ adapter, setting, subject, warnings }: StorageSettings): Promise<OpenStorage> {
  const misconfiguration = (error: unknown) => {
    const cause = DomainError.is(error) ? error.cause : error;
    return StorageMisconfigured.is(cause) ? `${subject}: ${cause.message}` : null;
  };
  try {
    const storage = await adapter.open(setting);
    if (typeof storage?.ready !== 'function') throw new StorageMisconfigured('its adapter opened no storage');
    const insecure = (storage.warnings ?? []).map((warning) => `${subject}: ${warning}`);
    return { storage, description: adapter.description, warnings: [...warnings, ...insecure], misconfiguration };
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    const message = misconfiguration(error) ?? `${subject}: the storage can't be opened: ${reason}`;
    throw new ConfigurationError(message);
  }
}

/**
 * Reads which storage an environment names, for an application with no other settings.
 *
 * @throws ConfigurationError
 */
export async function readNamedStorage(environment: NodeJS.ProcessEnv): Promise<StorageSettings> {
  const storages = await findStorages(environment);
  return readEnvironment(environment, storages, [], (given, errors) => readStorageSettings(given, storages, errors));
}

/**
 * Opens the storage that an environment names. Storage in memory is among its warnings.
 *
 * @throws ConfigurationError
 */
export async function openNamedStorage(environment: NodeJS.ProcessEnv): Promise<OpenStorage> {
  const settings = await readNamedStorage(environment);
  const opened = await openStorage(settings);
  if (settings.adapter.variable !== undefined) return opened;
  const warning = `the animals are kept in memory, and gone when this process ends: set ${storageChoices()} to keep them`;
  return { ...opened, warnings: [...opened.warnings, warning] };
}
