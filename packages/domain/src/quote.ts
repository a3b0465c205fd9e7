const LONGEST = 40;

/** A number as someone wrote it, where it was not read: what an error message quotes of it is what was written. */
export class NumberLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * A value as an error message quotes it: JSON where that is short, cut where it is long, by kind where it is neither. A number
 * may have been rounded when it was read, so only its {@link NumberLiteral} is quoted.
 */
export function quote(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length <= LONGEST ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, LONGEST))}…`;
    case 'bigint':
    case 'boolean':
      return cut(String(value));
    case 'undefined':
      return 'missing';
    case 'object':
      if (value === null) return 'null';
      if (value instanceof NumberLiteral) return cut(value.text);
      return Array.isArray(value) ? 'an array' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
