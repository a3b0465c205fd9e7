import { readFileSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { ConfigurationError } from './configuration-error.ts';

/** How a variable of the environment is read. */
export interface Variable<T> {
  /** Used if the variable is unset or empty. */
  readonly fallback: string;
  /** Completes "PORT must be …". */
  readonly rule: string;
  /** @returns null if the text breaks the rule. */
  readonly parse: (text: string) => T | null;
  /**
   * Ends the message about a text that breaks the rule, without secrets.
   *
   * @default Quotes a number.
   */
  readonly detail?: (text: string) => string;
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

/** The error of a value in quotation marks, or null. `docker run --env-file` and Kubernetes keep those of a file. */
export function quotesViolation(subject: string, text: string): string | null {
  return /^(["']).*\1$/s.test(text) ? `${subject} must not be in quotation marks` : null;
}

/** The error of a place with white space around it, or null. Line ends of Windows and byte order marks are white space. */
export function spaceViolation(subject: string, text: string): string | null {
  return text === text.trim() ? null : `${subject} must not begin or end with white space`;
}

/** The end of a message about a value. Only numbers are quoted: any other text may be a secret in the wrong place. */
const quoteNumber = (text: string) => (/^-?\d{1,20}$/.test(text) ? `, was ${text}` : '');

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
  const values = Object.entries(variables).map(([name, { fallback, rule, parse, detail = quoteNumber }]) => {
    const text = environment[name] || fallback;
    const violation = quotesViolation(name, text);
    const value = violation === null ? parse(text) : null;
    if (value === null) errors.push(violation ?? `${name} must be ${rule}${detail(text)}`);
    return [name, value ?? parse(fallback)];
  });
  return Object.fromEntries(values) as Values<V>;
}

/**
 * Reads the settings of an application.
 *
 * @param read Reads the environment; `errors` takes a sentence for each error in it.
 * @throws ConfigurationError that names every error.
 */
export function readSettings<T>(read: (errors: string[]) => T): T {
  const errors: string[] = [];
  const settings = read(errors);
  if (errors.length > 0) throw new ConfigurationError([...new Set(errors)].join('; '));
  return settings;
}

/** Stands for a text that can't be used. It satisfies every rule, so that no second error is about it. */
const UNREAD = 'unreadable-secret';

/**
 * Reads the text of a variable.
 *
 * @param variable If it is secret, the variable with the suffix _FILE may name a file that holds the text, and perhaps a line
 * end after it.
 * @param errors Takes a sentence for each error. The text is then one that satisfies every rule.
 * @returns `text` is empty if the variable is unset. `subject` is how messages name it: with the suffix _FILE if the text is from
 * a file.
 */
export function readText(
  environment: NodeJS.ProcessEnv,
  { name, secret }: { readonly name: string; readonly secret: boolean },
  errors: string[],
): { readonly text: string; readonly subject: string } {
  function checked(origin: string, text: string): string {
    const violation = quotesViolation(origin, text);
    if (violation !== null) errors.push(violation);
    return violation === null ? text : UNREAD;
  }

  const { [name]: text = '', [`${name}_FILE`]: path } = environment;
  if (!(secret && path)) return { text: checked(name, text), subject: name };
  const subject = `${name}_FILE`;
  if (text !== '') errors.push(`${name} and ${subject} are both set: remove one`);
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (content !== '') return { text: checked(`the content of ${subject}`, content), subject };
    errors.push(`${subject}: the file is empty`);
  } catch (error) {
    errors.push(quotesViolation(subject, path) ?? `${subject}: the file can't be read: ${systemReason(error)}`);
  }
  return { text: UNREAD, subject };
}

/**
 * The reason of an error in one line: of the operating system without the path or the host that the message of Node.js has. zlib
 * and clients of databases have an `errno` of their own, without the `syscall` of a system error or positive.
 */
export function systemReason(error: unknown): string {
  const { errno, syscall, message = error } = Object(error) as Partial<NodeJS.ErrnoException>;
  const [, reason] = (syscall && errno && getSystemErrorMap().get(errno)) || [];
  return reason ?? (String(message).split('\n')[0] as string);
}
