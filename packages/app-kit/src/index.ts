export { type ConfiguredKeys, configuredHolder, readApiKeys } from './api-keys.ts';
export { ConfigurationError, throwIfAny } from './configuration-error.ts';
export { findMisspelledVariables } from './misspelled-variables.ts';
export { type LoadedStorage, loadStorage, misconfigurationOf } from './open-storage.ts';
export { integer, matching, oneOf, readVariables, rejectQuotes, type Variable } from './settings.ts';
export { sha256 } from './sha256.ts';
export { readStorageSettings, type StorageSettings, storageVariables } from './storage-settings.ts';
export { STORAGES, type StorageEntry, type StorageName } from './storages.ts';
