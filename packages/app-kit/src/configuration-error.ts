/** An error in the settings: the environment or the arguments. The message is one line without secrets. */
export class ConfigurationError extends Error {}

/**
 * Whether a text may be a key, or a URL with a password, that is in the wrong place: it is long, and not like a path or the
 * name of a file, a host or a package.
 */
export function mayBeSecret(text: string): boolean {
  return /.@/.test(text) || (text.length >= 16 && !/^(?:\.{0,2}\/|@)|\.[a-z]\w{0,9}$/i.test(text));
}

/** A value of the operator as messages quote it. */
export function quoteSetting(text: string): string {
  return mayBeSecret(text) ? `a text of ${text.length} characters` : JSON.stringify(text);
}
