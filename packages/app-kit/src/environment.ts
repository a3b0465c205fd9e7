import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import type { StorageAdapter, StorageVariable } from '@animal-store/domain/ports';
import { ConfigurationError, quoteSetting } from './configuration-error.ts';

/** Adapters by the value of STORAGE. */
export type Storages = Readonly<Record<string, StorageAdapter>>;

/** The variables that name the places of storages. */
export function storageVariables(storages: Storages): StorageVariable[] {
  return Object.values(storages).flatMap(({ variable }) => variable ?? []);
}

/** How a variable of the environment is read. */
export interface Variable<T> {
  /** Used if the variable is unset or empty. */
  readonly fallback: string;
  /** Completes "PORT must be …". */
  readonly rule: string;
  /** @returns null if the text breaks the rule. */
  readonly parse: (text: string) => T | null;
}

/** An integer in decimal digits. */
export function integer(fallback: number, min: number, max: number): Variable<number> {
  return {
    fallback: String(fallback),
    rule: `an integer from ${min} to ${max}`,
    parse: (text) => (/^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null),
  };
}

/** One of a few words. */
export function oneOf<const T extends string>(fallback: NoInfer<T>, values: readonly T[]): Variable<T> {
  return {
    fallback,
    rule: `one of ${values.join(', ')}`,
    parse: (text) => values.find((value) => value === text) ?? null,
  };
}

/** A text that matches a pattern. */
export function matching(fallback: string, pattern: RegExp, rule: string): Variable<string> {
  return { fallback, rule, parse: (text) => (pattern.test(text) ? text : null) };
}

/** The error of a value in quotation marks: `docker run --env-file` and Kubernetes keep those of a file. Null for any other value. */
export function quotesViolation(subject: string, text = ''): string | null {
  return /^(["']).*\1$/s.test(text) ? `${subject} must not be in quotation marks` : null;
}

/** How messages name a secret variable: with the suffix _FILE if its value is from a file. */
export function subjectOf(environment: NodeJS.ProcessEnv, name: string): string {
  return environment[`${name}_FILE`] ? `${name}_FILE` : name;
}

type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of a table of variables, by name. */
export type Values<V extends Variables> = { readonly [K in keyof V]: V[K] extends Variable<infer T> ? T : never };

/**
 * Reads the variables of a table. A variable that is empty counts as unset.
 *
 * @param errors Takes a sentence for each variable that breaks its rule; its value is then that of the fallback.
 */
export function readVariables<V extends Variables>(
  environment: NodeJS.ProcessEnv,
  variables: V,
  errors: string[],
): Values<V> {
  const values = Object.entries(variables).map(([name, { fallback, rule, parse }]) => {
    const text = environment[name] || fallback;
    const violation = quotesViolation(name, text);
    const value = violation === null ? parse(text) : null;
    if (value === null) errors.push(violation ?? `${name} must be ${rule}, was ${quoteSetting(text)}`);
    return [name, value ?? parse(fallback)];
  });
  return Object.fromEntries(values) as Values<V>;
}

/** Satisfies every rule, so that the error about the secret stands alone. */
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
  const ofSecrets = secrets.map((name) => ({ name, secret: true }));
  for (const { name, secret } of [...ofSecrets, ...storageVariables(storages)]) {
    const path = secret ? environment[`${name}_FILE`] : undefined;
    if (path && environment[name]) errors.push(`${name} and ${name}_FILE are both set: remove one`);
    if (path) complete[name] = readSecretFile(name, path, errors);
    const violation = quotesViolation(path ? `the content of ${name}_FILE` : name, complete[name]);
    if (violation === null) continue;
    errors.push(violation);
    complete[name] = UNREAD;
  }
  const settings = read(complete, errors);
  if (errors.length > 0) throw new ConfigurationError(errors.join('; '));
  return settings;
}

/** The content of the file that the variable with the suffix _FILE names, without the line end at its end. */
function readSecretFile(name: string, path: string, errors: string[]): string {
  const subject = `${name}_FILE`;
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (content === '') errors.push(`${subject}: ${quoteSetting(path)} is empty`);
    return content || UNREAD;
  } catch (error) {
    const unread = `${subject}: ${quoteSetting(path)} can't be read: ${systemReason(error)}`;
    errors.push(quotesViolation(subject, path) ?? unread);
    return UNREAD;
  }
}

/** The reason of an error of the operating system, without the path or the host that the message of Node.js has. */
export function systemReason(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message : getSystemErrorMessage(errno);
}
