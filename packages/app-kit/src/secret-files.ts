import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';

/** Satisfies every rule, so that the error about the file stands alone. */
const UNREAD = 'unreadable-secret';

/** The variable that names the file of a secret. */
function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/**
 * Reads the secrets that are in files: their content without the line end at its end.
 *
 * @param secrets The variables that may have a twin with the suffix _FILE.
 * @param errors Takes a sentence for each file that can't be read.
 * @returns The environment with these secrets.
 */
export function readSecretFiles(environment: NodeJS.ProcessEnv, secrets: readonly string[], errors: string[]) {
  const complete = { ...environment };
  for (const name of secrets) {
    const path = environment[fileVariable(name)];
    if (!path) continue;
    if (environment[name]) errors.push(`${name} and ${fileVariable(name)} are both set: remove one`);
    complete[name] ||= UNREAD;
    try {
      const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (content === '') errors.push(`${fileVariable(name)}: ${path} is empty`);
      else if (!environment[name]) complete[name] = content;
    } catch (error) {
      const { errno, message } = error as NodeJS.ErrnoException;
      const reason = errno === undefined ? message : getSystemErrorMessage(errno);
      errors.push(`${fileVariable(name)}: ${path} can't be read: ${reason}`);
    }
  }
  return complete;
}
