import { describe, expect, test } from 'vitest';
import { restoreNumber } from './restore-number.ts';

function restored(text: string, member = 'a'): unknown {
  const value: unknown = JSON.parse(text);
  restoreNumber(value, text, member, (literal) => ({ literal }));
  return value;
}

describe(restoreNumber, () => {
  test.each([
    ['{"a":7}', 7n],
    ['{"a":9223372036854775807}', 9_223_372_036_854_775_807n],
    ['{"a":9007199254740993}', 9_007_199_254_740_993n],
    ['{"a":7.0}', 7n],
    ['{"a":12e2}', 1_200n],
    ['{"a":7.5}', { literal: '7.5' }],
    ['{"a":9007199254740992.5}', { literal: '9007199254740992.5' }],
    ['{"a":1e999}', { literal: '1e999' }],
    ['{"b":"1.5","a":7}', 7n],
  ])('of %s is %s', (text, a) => {
    expect(restored(text)).toMatchObject({ a });
  });

  test.each(['{"a":"7"}', '{"a":null}', '{"b":9.5}', '[7]', '7', '"a"', 'null'])('changes nothing of %s', (text) => {
    expect(restored(text)).toEqual(JSON.parse(text));
    expect(restored(text, 'length')).toEqual(JSON.parse(text));
  });
});
