const LONGEST = 40;

/** A number as it was written, for a transport that can't convert it: error messages quote this text. */
export class NumberLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * A message in place of a value that breaks a rule of the transport. The use case rejects it with this message, together
 * with every other violation.
 *
 * @example { after: readCursor(text) ?? new Violation('cursor must be one that a Link header of this service gave') }
 */
export class Violation {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The message of a value that breaks a rule, which ends in the value, unless a transport has worded it already. */
export function violation(rule: string, value: unknown): string {
  return value instanceof Violation ? value.message : `${rule}, was ${quote(value)}`;
}

/** The message of a value that must be an integer of 64 bits. Callers in the same process pass a number by mistake. */
export function integerViolation(rule: string, value: unknown): string {
  if (typeof value !== 'number') return violation(rule, value);
  return `${rule}, was the number ${value}${Number.isInteger(value) ? ': pass a bigint' : ''}`;
}

/**
 * A value as an error message quotes it: a string as JSON, truncated after 40 characters; a bigint, a boolean or a
 * {@link NumberLiteral} as its text; anything else by its kind. A number may have been rounded when it was read.
 */
export function quote(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length <= LONGEST ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, LONGEST))}…`;
    case 'bigint':
    case 'boolean':
      return truncated(String(value));
    case 'undefined':
      return 'missing';
    case 'object':
      if (value === null) return 'null';
      if (value instanceof NumberLiteral) return truncated(value.text);
      return Array.isArray(value) ? 'an array' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

function truncated(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
