/** @module @animal-store/exact-json */

/** JSON text that `JSON.stringify` copies as it is (ECMA-262, JSON.parse source text access). */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

if (rawJSON === undefined) throw new Error('@animal-store/exact-json needs JSON.rawJSON, as Node.js 22 has it');

/** Converting digits to a bigint takes time that grows with the square of their number. */
const MAX_LENGTH = 100;

/**
 * Like `JSON.parse`, with every integer as a bigint of all its digits, however it is written: `1.0` and `1e3` are integers,
 * as in JSON Schema. Other numbers, and those of more than 100 characters, are numbers.
 *
 * @throws SyntaxError if the text is not JSON (RFC 8259), or is nested some thousand levels deep.
 */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_name: string, value: unknown, ...[context]: { readonly source: string }[]) =>
      typeof value === 'number' ? (integerOf((context as { source: string }).source) ?? value) : value,
    );
  } catch (error) {
    throw error instanceof SyntaxError ? error : new SyntaxError('JSON is nested too deeply');
  }
}

/** Like `JSON.stringify`, with each bigint as a number of all its digits. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}

function integerOf(literal: string): bigint | null {
  if (literal.length > MAX_LENGTH) return null;
  const [decimal, exponent = 0] = literal.split(/e/i) as [string, string?];
  const [whole, fraction = ''] = decimal.split('.') as [string, string?];
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return digits;
  if (Math.abs(shift) > MAX_LENGTH) return null;
  const numerator = digits * 10n ** BigInt(Math.max(shift, 0));
  const denominator = 10n ** BigInt(Math.max(-shift, 0));
  return numerator % denominator === 0n ? numerator / denominator : null;
}
