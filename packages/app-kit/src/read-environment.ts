import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { ConfigurationError } from './configuration-error.ts';
import { type Storages, storageVariables } from './storages.ts';

/** Satisfies every rule, so that the error about the file stands alone. */
const UNREAD = 'unreadable-secret';

/**
 * Reads the environment of an application, once, and the files that hold its secrets.
 *
 * @param secrets The secret variables of the application, besides those of the storages.
 * @param read Reads the variables; `errors` takes a sentence for each error.
 * @throws ConfigurationError that names every error.
 */
export function readEnvironment<T>(
  environment: NodeJS.ProcessEnv,
  storages: Storages,
  secrets: readonly string[],
  read: (environment: NodeJS.ProcessEnv, errors: string[]) => T,
): T {
  const errors: string[] = [];
  const complete = { ...environment };
  const ofStorages = storageVariables(storages).flatMap(({ name, secret }) => (secret ? name : []));
  for (const name of [...secrets, ...ofStorages]) {
    const path = environment[`${name}_FILE`];
    if (!path) continue;
    if (environment[name]) errors.push(`${name} and ${name}_FILE are both set: remove one`);
    complete[name] = readSecretFile(name, path, errors);
  }
  const settings = read(complete, errors);
  if (errors.length > 0) throw new ConfigurationError(errors.join('; '));
  return settings;
}

/** The content of the file that the variable with the suffix _FILE names, without the line end at its end. */
function readSecretFile(name: string, path: string, errors: string[]): string {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (content === '') errors.push(`${name}_FILE: ${path} is empty`);
    return content || UNREAD;
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    const reason = errno === undefined ? message : getSystemErrorMessage(errno);
    errors.push(`${name}_FILE: ${path} can't be read: ${reason}`);
    return UNREAD;
  }
}
