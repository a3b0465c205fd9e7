const LONGEST = 40;

/** A value as an error message quotes it: JSON where that is short, cut where it is long, by kind where it is neither. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length <= LONGEST ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, LONGEST))}…`;
    case 'bigint':
    case 'number':
    case 'boolean': {
      const text = String(value);
      return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
    }
    case 'undefined':
      return 'missing';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'an array' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}
