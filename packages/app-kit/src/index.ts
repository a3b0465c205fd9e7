export { type ConfiguredKeys, createDevelopmentKey, readApiKeys } from './api-keys.ts';
export { readCredentials } from './bearer.ts';
export { ConfigurationError } from './configuration-error.ts';
export { createErrorReport, type ReportError } from './error-report.ts';
export { ADDRESS_VARIABLES, addressError } from './listening-address.ts';
export {
  type LoadedStorage,
  loadStorage,
  misconfigurationOf,
  type OpenStorage,
  openStorage,
  storageWarnings,
} from './open-storage.ts';
export { createRateLimiter } from './rate-limiter.ts';
export { type EnvironmentSettings, readEnvironment } from './read-environment.ts';
export { withFileVariables } from './secret-files.ts';
export { integer, matching, oneOf, readVariables, rejectQuotes, type Variable } from './settings.ts';
export { sha256 } from './sha256.ts';
export { readStorageSettings, STORAGE_VARIABLES, type StorageSettings, storageVariables } from './storage-settings.ts';
export { STORAGES, type StorageEntry, type StorageName } from './storages.ts';
export { readVersion, type Version, versionText } from './version.ts';
