import { integerOf } from './json-number.ts';

/** How {@link parse} reads numbers. */
export interface ParseOptions {
  /**
   * Which integers become bigints. `'unsafe'` (the default): those beyond ±(2^53 - 1), which a number would round; code
   * that expects numbers goes on working. `'bigint'`: all of them, so that a member has the same type whatever its value.
   */
  readonly integers?: 'unsafe' | 'bigint';
}

/**
 * Like `JSON.parse`, without rounding integers. An integer is a number without a fraction however it is written: `1.0` and
 * `1e3` are integers, as in JSON Schema. Those of more than 100 digits, like every other number, are read as
 * `JSON.parse` reads them.
 *
 * @throws SyntaxError if the text is not JSON, RangeError if it is nested too deeply (some thousand levels).
 * @example parse('{"id":9007199254740993}') // { id: 9007199254740993n }
 */
export function parse(text: string, { integers = 'unsafe' }: ParseOptions = {}): unknown {
  const reviver = (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || (integers === 'unsafe' && Number.isSafeInteger(value))) return value;
    return integerOf(context?.source as string) ?? value;
  };
  return JSON.parse(text, reviver);
}
