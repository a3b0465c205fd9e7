import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';

/** Satisfies every rule, so that the error about the file stands alone. */
const UNREAD = 'unreadable-secret';

/** The variable that names the file of a secret. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/**
 * Reads the secrets that are in files: their content without the line end at its end.
 *
 * @param secrets The variables that may have a twin with the suffix _FILE.
 * @param errors Takes a sentence for each file that can't be read.
 * @returns The environment with these secrets.
 */
export function readSecretFiles(
  environment: NodeJS.ProcessEnv,
  secrets: readonly string[],
  errors: string[],
): NodeJS.ProcessEnv {
  const complete = { ...environment };
  for (const name of secrets) {
    const twin = fileVariable(name);
    const path = environment[twin];
    if (!path) continue;
    if (environment[name]) errors.push(`${name} and ${twin} are both set: remove one`);
    complete[name] ||= contentOf(path, (reason) => errors.push(`${twin}: ${reason}`)) || UNREAD;
  }
  return complete;
}

function contentOf(path: string, fail: (reason: string) => void): string {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (content === '') fail('the file is empty');
    return content;
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    // The path may be the secret itself if the operator has only renamed the variable.
    fail(`the file can't be read: ${errno === undefined ? message : getSystemErrorMessage(errno)}`);
    return '';
  }
}
