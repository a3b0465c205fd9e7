export { type ConfiguredKeys, createDevelopmentKey, missingKeys, readApiKeys } from './api-keys.ts';
export { readCredentials, sha256 } from './bearer.ts';
export { ConfigurationError } from './configuration-error.ts';
export {
  integer,
  matching,
  oneOf,
  quotesViolation,
  readSettings,
  readText,
  readVariables,
  spaceViolation,
  systemReason,
  type Variable,
} from './environment.ts';
export { readLines } from './read-lines.ts';
export { reportError } from './report-error.ts';
export {
  ADAPTERS,
  type Adapters,
  type ChosenStorage,
  chooseStorage,
  findAdapters,
  misconfigurationOf,
  type OpenedStorage,
  openStorage,
  STORAGE_VARIABLES,
  variableNames,
} from './storage.ts';
export { readVersion, type Version, versionText } from './version.ts';
