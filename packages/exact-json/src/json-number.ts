/** Converting digits to a bigint takes time that grows with the square of their number. */
const MOST_DIGITS = 100;

const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The integer that a JSON number stands for, exactly: `1.0` and `1e3` are integers, as in JSON Schema, `1.5` is not.
 *
 * @param literal A number in JSON's grammar (RFC 8259, section 6), of any length.
 * @returns The integer; null if the number has a fraction, or more than 100 digits.
 */
export function integerOf(literal: string): bigint | null {
  const [, sign, whole, fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  if (whole === undefined) return null;
  // digits × 10^shift, without the zeros at either end.
  const significant = (whole + fraction).replace(/^0+/, '');
  // Not by /0+$/: it starts again at each zero, in time that grows with the square of their number.
  let end = significant.length;
  while (significant[end - 1] === '0') end -= 1;
  const digits = significant.slice(0, end);
  if (digits === '') return 0n;
  const shift = Number(exponent) - fraction.length + (significant.length - digits.length);
  if (shift < 0 || digits.length + shift > MOST_DIGITS) return null;
  return BigInt(`${sign}${digits}${'0'.repeat(shift)}`);
}
