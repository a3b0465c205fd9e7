/** An error in the settings: the environment or the arguments. The message is one line without secrets. */
export class ConfigurationError extends Error {}

/** Like a path, the name of a file, a host or a package, an integer of 64 bits, or an origin. */
const NO_SECRET = /^(?:\.{0,2}\/|@|-?\d{19,20}$|https?:\/\/[\w.*-]+(?::\d{1,5})?\/?$)|\.[a-z]\w{0,9}$/i;

/** Whether a text may be a key, or a URL with a password, that is in the wrong place. */
export function mayBeSecret(text: string): boolean {
  return /.@/.test(text) || (text.length >= 16 && !NO_SECRET.test(text));
}

/** A value of the operator as messages quote it. */
export function quoteSetting(text: string): string {
  return mayBeSecret(text) ? `a text of ${text.length} characters` : JSON.stringify(text);
}
