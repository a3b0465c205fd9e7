import { DomainError } from '@animal-store/domain';
import { type PetStorage, StorageMisconfigured } from '@animal-store/domain/ports';
import { ConfigurationError } from './configuration-error.ts';
import { readEnvironment } from './read-environment.ts';
import { type MemoryPolicy, readStorageSettings, type StorageSettings } from './storage-settings.ts';
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
export async function openStorage(settings: StorageSettings): Promise<OpenStorage> {
  const { name, adapter, setting } = settings;
  const subject = settings.subject ?? adapter.variable?.name ?? `STORAGE=${name}`;
  const misconfiguration = (error: unknown) => {
    const cause = DomainError.is(error) ? error.cause : error;
    return StorageMisconfigured.is(cause) ? `${subject}: ${(cause as Error).message}` : null;
  };
  try {
    const storage = await adapter.open(setting);
    if (typeof storage?.ready !== 'function') throw new StorageMisconfigured('its adapter opened no storage');
    const warnings = [...settings.warnings, ...(storage.warnings ?? []).map((warning) => `${subject}: ${warning}`)];
    return { storage, description: adapter.description, warnings, misconfiguration };
  } catch (error) {
    const message = misconfiguration(error);
    const reason =
      message ?? `${subject}: the storage can't be opened: ${error instanceof Error ? error.message : error}`;
    throw new ConfigurationError(reason, { cause: error });
  }
}

/**
 * Reads which storage an environment names.
 *
 * @throws ConfigurationError
 */
export async function readNamedStorage(environment: NodeJS.ProcessEnv, memory: MemoryPolicy): Promise<StorageSettings> {
  const storages = await findStorages(environment);
  return readEnvironment(environment, storages, [], (given, errors) =>
    readStorageSettings(given, storages, memory, errors),
  );
}

/**
 * Opens the storage that an environment names, for an application with no other settings. Storage in memory is among
 * its warnings.
 *
 * @throws ConfigurationError
 */
export async function openNamedStorage(environment: NodeJS.ProcessEnv, memory: MemoryPolicy): Promise<OpenStorage> {
  const settings = await readNamedStorage(environment, memory);
  const opened = await openStorage(settings);
  const all = [...opened.warnings];
  if (settings.adapter.variable === undefined) {
    const choices = storageChoices(await findStorages(environment));
    all.push(`the animals are kept in memory, and gone when this process ends: set ${choices} to keep them`);
  }
  return { ...opened, warnings: all };
}
