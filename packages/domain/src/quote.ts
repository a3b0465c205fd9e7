const MAX_LENGTH = 40;

/**
 * A value as an error message quotes it: a string as JSON, a bigint and a boolean as text, a number as `the number 1.5`,
 * an array or object by its kind. More than 40 characters are truncated.
 */
export function quote(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'an array';
  if (Object(value) === value) return 'an object';
  // JSON.parse makes Infinity of `1e400`: the sender wrote another number.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return 'a number out of range';
  const text = String(value);
  const shown = text.slice(0, MAX_LENGTH);
  const quoted = typeof value === 'string' ? JSON.stringify(shown) : shown;
  return (typeof value === 'number' ? 'the number ' : '') + quoted + (shown === text ? '' : '…');
}

/** The message of a value that breaks a rule. It ends in the value. */
export function violation(rule: string, value: unknown): string {
  return `${rule}, was ${quote(value)}`;
}
