import { describe, expect, test } from 'vitest';
import { exactNumber } from './exact-number.ts';

describe(exactNumber, () => {
  test.each([
    ['{"a":7}', 7n],
    ['{"a":9223372036854775807}', 9_223_372_036_854_775_807n],
    ['{"a":9007199254740993}', 9_007_199_254_740_993n],
    ['{"a":7.0}', 7n],
    ['{"a":12e2}', 1_200n],
    ['{"a":7.5}', '7.5'],
    ['{"a":9007199254740992.5}', '9007199254740992.5'],
    ['{"a":1e999}', '1e999'],
    ['{"b":"1.5","a":7}', 7n],
  ])('of %s is %s', (text, exact) => {
    expect(exactNumber(JSON.parse(text).a, text, 'a')).toBe(exact);
  });
});
