import { numberLiteral } from './json-member.ts';
import { integerOf } from './json-number.ts';

/** A digit before a point or an exponent: only then can a number that looks like an integer be none, or be written so. */
const FRACTION_OR_EXPONENT = /\d[.eE]/;

/**
 * Restores the digits of a number that `JSON.parse` has read from a member of an object, and may have rounded: the member
 * becomes a bigint. Changes nothing if the value is no object or the member no number.
 *
 * @param value As `JSON.parse` read it.
 * @param text The JSON of the value.
 * @param ofLiteral Returns what the member becomes if it is no integer, or one of more than a hundred digits.
 * @throws RangeError if a string of the text has millions of escapes.
 */
export function restoreNumber(
  value: unknown,
  text: string,
  member: string,
  ofLiteral: (literal: string) => unknown,
): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const object = value as Record<string, unknown>;
  const rounded = object[member];
  if (typeof rounded !== 'number') return;
  // A literal of digits alone that was read as a safe integer was read exactly.
  if (Number.isSafeInteger(rounded) && !FRACTION_OR_EXPONENT.test(text)) {
    object[member] = BigInt(rounded);
    return;
  }
  const literal = numberLiteral(text, member) as string;
  object[member] = integerOf(literal) ?? ofLiteral(literal);
}
