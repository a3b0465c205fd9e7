const LONGEST = 40;

/** ECMA-262, JSON.parse source text access. Node.js 20 has neither raw JSON nor this function. */
const { isRawJSON } = JSON as { isRawJSON?(value: unknown): boolean };

/** Whether a value is a number that a transport can't convert: `JSON.rawJSON('1.50')` keeps the text as it was written. */
export function isRawNumber(value: unknown): value is { readonly rawJSON: string } {
  return isRawJSON?.(value) === true;
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

/**
 * The message of a value that must be an integer of 64 bits. A transport passes a number that it can't convert as
 * `JSON.rawJSON(text)`, and the message quotes this text. Callers in the same process pass a number by mistake.
 */
export function integerViolation(rule: string, value: unknown): string {
  if (typeof value === 'bigint') return `${rule}, was ${truncated(String(value))}`;
  if (isRawNumber(value)) return `${rule}, was ${truncated(value.rawJSON)}`;
  if (typeof value !== 'number') return violation(rule, value);
  return `${rule}, was the number ${value}${Number.isInteger(value) ? ': pass a bigint' : ''}`;
}

/**
 * A value as an error message quotes it: a string as JSON, truncated after 40 characters; a boolean as its text; anything
 * else by its kind, a number because its digits may have been rounded when it was read.
 */
export function quote(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length <= LONGEST ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, LONGEST))}…`;
    case 'boolean':
      return String(value);
    case 'bigint':
      return 'a number';
    case 'undefined':
      return 'missing';
    case 'object':
      if (value === null) return 'null';
      if (isRawNumber(value)) return 'a number';
      return Array.isArray(value) ? 'an array' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

function truncated(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
