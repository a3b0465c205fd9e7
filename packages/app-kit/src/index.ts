export { type ConfiguredKeys, createDevelopmentKey, readApiKeys, sha256 } from './api-keys.ts';
export { readCredentials } from './bearer.ts';
export { ConfigurationError } from './configuration-error.ts';
export { type OpenStorage, openNamedStorage, openStorage, readNamedStorage } from './open-storage.ts';
export { readEnvironment } from './read-environment.ts';
export { integer, matching, oneOf, readVariables, type Variable } from './settings.ts';
export { readStorageSettings, type StorageSettings } from './storage-settings.ts';
export { findStorages, STORAGES, type Storages, storageChoices } from './storages.ts';
export { readVersion, type Version, versionText } from './version.ts';
