import { rawJSON } from './stringify.ts';
import { findSyntaxError } from './syntax-error.ts';

/** How {@link parse} reads a text. */
export interface ParseOptions {
  /**
   * Which integers become bigints. `'unsafe'` (the default): those beyond ±(2^53 - 1), which a number would round; code
   * that expects numbers still works. `'bigint'`: all of them, so that a member has the same type whatever its value.
   */
  readonly integers?: 'unsafe' | 'bigint' | undefined;

  /**
   * How numbers with a fraction, or with more than 100 digits, are read. `'number'` (the default): as `JSON.parse` rounds
   * them. `'raw'`: as `JSON.rawJSON` objects, whose `rawJSON` is the number as it is written.
   */
  readonly others?: 'number' | 'raw' | undefined;

  /** The name of the text in the message of a SyntaxError: `'text'` by default. */
  readonly name?: string | undefined;
}

/** Converting digits to a bigint takes time that grows with the square of their number. */
const MAX_DIGITS = 100;

const LITERAL = /(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/;
type NumberParts = readonly [literal: string, sign: string, whole: string, fraction?: string, exponent?: string];

/** A number that `JSON.parse` may round: with a fraction, with an exponent, or of 16 digits. Some strings match, too. */
const MAY_BE_ROUNDED = /\d(?:[.eE]|\d{15})/;

/** The strings and the numbers of a text that is JSON. In another text it may take time that grows with the square. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Like `JSON.parse`, without rounding integers. An integer is a number without a fraction however it is written: `1.0` and
 * `1e3` are integers, as in JSON Schema.
 *
 * @param text JSON (RFC 8259), nested to any depth.
 * @throws SyntaxError if the text is not JSON. The message has the line, the column (in code points, both from 1),
 * and the expected and the found text. RangeError if a string has millions of escapes.
 * @example parse('{"id":9007199254740993}') // { id: 9007199254740993n }
 */
export function parse(text: string, options: ParseOptions = {}): unknown {
  const { integers = 'unsafe', others, name = 'text' } = options;
  const value = parseOrLocate(text, name);
  if (!MAY_BE_ROUNDED.test(text)) return integers === 'unsafe' ? value : withNumbers(value, BigInt);
  // The same JSON, in which the index of a number takes its place.
  const literals: string[] = [];
  const toIndex = (token: string) => (token.startsWith('"') ? token : String(literals.push(token) - 1));
  return withNumbers(JSON.parse(text.replace(STRING_OR_NUMBER, toIndex)), (index) => {
    const literal = literals[index] as string;
    const rounded = Number(literal);
    const integer = integerOf(literal);
    if (integer === null) return others === 'raw' ? rawJSON(literal) : rounded;
    return integers === 'unsafe' && Number.isSafeInteger(rounded) ? rounded : integer;
  });
}

function parseOrLocate(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw findSyntaxError(text, name);
  }
}

/** Replaces each number, in a loop: recursion would limit the depth. */
function withNumbers(root: unknown, replace: (number: number) => unknown): unknown {
  const parent = { root };
  const open: Record<string, unknown>[] = [parent];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const key of Object.keys(container)) {
      const member = container[key];
      if (typeof member === 'number') container[key] = replace(member);
      else if (typeof member === 'object' && member !== null) open.push(member as Record<string, unknown>);
    }
  }
  return parent.root;
}

/**
 * The integer that a JSON number stands for, exactly: `1.0` and `1e3` are integers, as in JSON Schema, `1.5` is not.
 *
 * @param literal A number in JSON's grammar (RFC 8259, section 6), of any length.
 * @returns The integer; null if the number has a fraction, or more than 100 digits.
 */
function integerOf(literal: string): bigint | null {
  const [, sign, whole, fraction = '', exponent = 0] = LITERAL.exec(literal) as unknown as NumberParts;
  // digits × 10^shift, without the zeros at either end.
  const significant = (whole + fraction).replace(/^0+/, '');
  // /0+$/ would start again at each zero, in time that grows with the square of their number.
  let end = significant.length;
  while (significant[end - 1] === '0') end -= 1;
  const digits = significant.slice(0, end);
  if (digits === '') return 0n;
  const shift = Number(exponent) - fraction.length + (significant.length - digits.length);
  if (shift < 0 || digits.length + shift > MAX_DIGITS) return null;
  return BigInt(`${sign}${digits}${'0'.repeat(shift)}`);
}
