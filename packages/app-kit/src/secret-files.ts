import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { storageEntries } from './storages.ts';

/** The settings that are secrets. Each can be in a file, which a twin of its variable names: API_KEYS_FILE. */
const SECRETS: ReadonlySet<string> = new Set([
  'API_KEYS',
  ...storageEntries.flatMap(([, { setting }]) => (setting?.secret ? [setting.variable] : [])),
]);

/** Satisfies every rule, so that the error about the file stands alone. */
const UNREAD = 'unreadable-secret';

/** @returns The variables, and after each secret its twin. */
export function withFileVariables(names: readonly string[]): string[] {
  return names.flatMap((name) => (SECRETS.has(name) ? [name, fileVariable(name)] : [name]));
}

/**
 * Reads the secrets that are in files: their content without the line end at its end.
 *
 * @param names The variables of the application.
 * @param errors Takes a sentence for each file that can't be read.
 * @returns The environment with these secrets.
 */
export function readSecretFiles(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  errors: string[],
): NodeJS.ProcessEnv {
  const complete = { ...environment };
  for (const name of names.filter((each) => SECRETS.has(each))) {
    const twin = fileVariable(name);
    const path = environment[twin];
    if (!path) continue;
    if (environment[name]) errors.push(`${name} and ${twin} are both set: remove one`);
    complete[name] ||= contentOf(path, (reason) => errors.push(`${twin}: ${reason}`)) || UNREAD;
  }
  return complete;
}

function fileVariable(name: string): string {
  return `${name}_FILE`;
}

function contentOf(path: string, fail: (reason: string) => void): string {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (content === '') fail('the file is empty');
    return content;
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    // Without the path: it may be the secret itself, of an operator who renamed the variable only.
    fail(`the file can't be read: ${errno === undefined ? message : getSystemErrorMessage(errno)}`);
    return '';
  }
}
