import { ConfigurationError } from './configuration-error.ts';
import { readSecretFiles } from './secret-files.ts';
import { type Storages, storageVariables } from './storages.ts';

function secretNames(own: readonly string[], storages: Storages): string[] {
  const secrets = storageVariables(storages).filter(({ secret }) => secret);
  return [...own.filter((name) => name === 'API_KEYS'), ...secrets.map(({ name }) => name)];
}

/**
 * Reads the environment of an application, once, and the files that hold its secrets.
 *
 * @param own The variables of the application, besides those of the storages.
 * @param read Reads them; `errors` takes a sentence for each error.
 * @throws ConfigurationError that names every error.
 */
export function readEnvironment<T>(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  own: readonly string[],
  read: (environment: NodeJS.ProcessEnv, errors: string[]) => T,
): T {
  const errors: string[] = [];
  const settings = read(readSecretFiles(environment, secretNames(own, storages), errors), errors);
  if (errors.length > 0) throw new ConfigurationError(errors.join('; '));
  return settings;
}
