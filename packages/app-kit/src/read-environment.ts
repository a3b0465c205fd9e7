import { ConfigurationError } from './configuration-error.ts';
import { findMisspelledVariables } from './misspelled-variables.ts';
import { readSecretFiles, withFileVariables } from './secret-files.ts';

/** What an application reads from its environment. */
export interface EnvironmentSettings<T> {
  readonly settings: T;
  /** Set variables that are no settings, but resemble one: a sentence each, without a value. */
  readonly warnings: readonly string[];
}

/**
 * Reads the environment of an application, once, and the files that hold its secrets.
 *
 * @param names The variables that the application reads.
 * @param read Reads them; `errors` takes a sentence for each error.
 * @throws ConfigurationError that names every error, and for a missing variable the misspelled one that is set.
 */
export function readEnvironment<T>(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  read: (environment: NodeJS.ProcessEnv, errors: string[]) => T,
): EnvironmentSettings<T> {
  const errors: string[] = [];
  const settings = read(readSecretFiles(environment, names, errors), errors);
  const misspelled = [...findMisspelledVariables(environment, withFileVariables(names))];
  const warn = ([name, meant]: readonly [string, string]) => `${name} is not a setting: ${meant} is probably meant`;
  if (errors.length > 0) {
    const causes = misspelled.filter(([, meant]) => errors.some((error) => error.includes(meant)));
    throw new ConfigurationError([...errors, ...causes.map(warn)].join('; '));
  }
  return { settings, warnings: misspelled.map(warn) };
}
