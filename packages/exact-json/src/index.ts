/** @module @animal-store/exact-json */

/** JSON text that `JSON.stringify` copies as it is (ECMA-262, JSON.parse source text access). */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): object };

if (rawJSON === undefined) throw new Error('@animal-store/exact-json needs JSON.rawJSON, as Node.js 22 has it');

/** A literal that is no integer of at most 15 digits, or characters of a string that look like one. */
const MAY_BE_ROUNDED = /\d(?:[.eE]|\d{15})/;

/** Converting digits to a bigint takes time that grows with the square of their number. */
const MAX_DIGITS = 100;

/**
 * Like `JSON.parse`, with every integer as a bigint of all its digits, however it is written: `1.0` and `1e3` are integers,
 * as in JSON Schema. Other numbers, and integers of more than 100 digits (a sign counts, the zeros at the end do not) or of
 * more than 100 zeros at their end, are numbers.
 *
 * @throws SyntaxError if the text is not JSON (RFC 8259), or is nested some thousand levels deep.
 */
export function parse(text: string): unknown {
  try {
    // JSON.parse takes several times as long if it calls a function for each member.
    if (!MAY_BE_ROUNDED.test(text)) return withBigints(JSON.parse(text));
    return JSON.parse(text, (_name: string, value: unknown, ...[context]: { readonly source: string }[]) =>
      typeof value === 'number' ? (integerOf((context as { source: string }).source) ?? value) : value,
    );
  } catch (error) {
    throw error instanceof SyntaxError ? error : new SyntaxError('JSON is nested too deeply');
  }
}

/** Like `JSON.stringify`, with each bigint as a number of all its digits. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? exact(member) : member));
}

/**
 * What `JSON.stringify` writes as a number with all digits of an integer. For known members that is several times as fast as
 * {@link stringify}, which looks at each.
 *
 * @example JSON.stringify({ id: exact(2n ** 63n - 1n) }) // {"id":9223372036854775807}
 */
export function exact(integer: bigint): number | object {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : rawJSON(String(integer));
}

/** Replaces the numbers in a new value. All are integers. */
function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    for (const name of Object.keys(members)) members[name] = withBigints(members[name]);
  }
  return value;
}

function integerOf(literal: string): bigint | null {
  const [decimal, exponent = 0] = literal.split(/e/i) as [string, string?];
  const [whole, fraction = ''] = decimal.split('.') as [string, string?];
  const digits = whole + fraction;
  // Not /0+$/, whose time grows with the square of the zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const significant = digits.slice(0, end);
  if (significant === '' || significant === '-') return 0n;
  const zeros = digits.length - end - fraction.length + Number(exponent);
  if (significant.length > MAX_DIGITS || zeros < 0 || zeros > MAX_DIGITS) return null;
  return BigInt(significant) * 10n ** BigInt(zeros);
}
