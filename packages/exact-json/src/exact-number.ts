import { numberLiteral } from './json-member.ts';
import { integerOf } from './json-number.ts';

/** A digit before a point or an exponent: only then can a number that looks like an integer be none, or be written so. */
const FRACTION_OR_EXPONENT = /\d[.eE]/;

/**
 * The exact value of a number that `JSON.parse` has read from a member of an object, and may have rounded.
 *
 * @param rounded As `JSON.parse` read it.
 * @param text The JSON of the object.
 * @returns Its literal if it is no integer, or one of more than a hundred digits.
 */
export function exactNumber(rounded: number, text: string, member: string): bigint | string {
  // A literal of digits alone that was read as a safe integer was read exactly.
  if (Number.isSafeInteger(rounded) && !FRACTION_OR_EXPONENT.test(text)) return BigInt(rounded);
  const literal = numberLiteral(text, member) as string;
  return integerOf(literal) ?? literal;
}
