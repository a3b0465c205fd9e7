import { ConfigurationError } from './configuration-error.ts';
import { findMisspelledVariables } from './misspelled-variables.ts';
import { fileVariable, readSecretFiles } from './secret-files.ts';
import { type Storages, storageVariables } from './storages.ts';

/** The settings of an application, and warnings about its environment. */
export interface EnvironmentSettings<T> {
  readonly settings: T;
  /** Set variables that are no settings, but resemble one: a sentence each, without a value. */
  readonly warnings: readonly string[];
}

/** The variables of an application: its own, those of the storages, and those that name a file with a secret. */
export function variableNames(own: readonly string[], storages: Storages): string[] {
  const names = storageVariables(storages).map(({ name }) => name);
  return [...own, 'STORAGE', ...names, ...secretNames(own, storages).map(fileVariable)];
}

function secretNames(own: readonly string[], storages: Storages): string[] {
  const secrets = storageVariables(storages).filter(({ secret }) => secret);
  return [...own.filter((name) => name === 'API_KEYS'), ...secrets.map(({ name }) => name)];
}

/**
 * Reads the environment of an application, once, and the files that hold its secrets.
 *
 * @param own The variables of the application, besides those of the storages.
 * @param read Reads them; `errors` takes a sentence for each error.
 * @throws ConfigurationError that names every error, and for a missing variable the misspelled one that is set.
 */
export function readEnvironment<T>(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  own: readonly string[],
  read: (environment: NodeJS.ProcessEnv, errors: string[]) => T,
): EnvironmentSettings<T> {
  const errors: string[] = [];
  const settings = read(readSecretFiles(environment, secretNames(own, storages), errors), errors);
  const misspelled = [...findMisspelledVariables(environment, variableNames(own, storages))];
  const warn = ([name, meant]: readonly [string, string]) => `${name} is not a setting: ${meant} is probably meant`;
  if (errors.length > 0) {
    const causes = misspelled.filter(([, meant]) => errors.some((error) => error.includes(meant)));
    throw new ConfigurationError([...errors, ...causes.map(warn)].join('; '));
  }
  return { settings, warnings: misspelled.map(warn) };
}
