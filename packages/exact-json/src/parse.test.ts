import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from './parse.ts';
import { stringify } from './stringify.ts';

describe('parse', () => {
  test('reads an integer beyond the safe range as a bigint, and others as numbers', () => {
    expect(parse('[9007199254740991, 9007199254740992, -9007199254740992, 9223372036854775807, 7, -0.5]')).toEqual([
      9007199254740991,
      9007199254740992n,
      -9007199254740992n,
      9223372036854775807n,
      7,
      -0.5,
    ]);
  });

  test.each([
    ['9007199254740993.0', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['1e30', 10n ** 30n],
    // Rounded to integers, though they are none.
    ['9007199254740993.5', 9007199254740994],
    ['1e400', Number.POSITIVE_INFINITY],
    ['1e308', 1e308],
    ['1.0', 1],
  ])('reads %s', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test("reads every integer as a bigint with integers: 'bigint'", () => {
    expect(parse('{"id":1,"page":[1.0,1e3,-0],"price":1.5,"huge":1e308,"name":"1"}', { integers: 'bigint' })).toEqual({
      id: 1n,
      page: [1n, 1000n, 0n],
      price: 1.5,
      huge: 1e308,
      name: '1',
    });
  });

  test('reads what stringify wrote, to the last digit', () => {
    const integers = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        integers,
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('tree')),
        fc.dictionary(fc.string(), tie('tree'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(parse(stringify(value), { integers: 'bigint' })).toEqual(value);
      }),
    );
  });

  test('reads everything but integers beyond the safe range as JSON.parse does', () => {
    const isUnsafe = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const withoutUnsafe = JSON.stringify(JSON.parse(text, (_key, member) => (isUnsafe(member) ? 0 : member)));
        expect(parse(withoutUnsafe)).toEqual(JSON.parse(withoutUnsafe));
      }),
    );
  });

  test.each(['', '{', '{"a":01}', "{'a':1}", 'NaN'])('throws the SyntaxError of JSON.parse for %j', (text) => {
    const messageOf = (read: (text: string) => unknown) => {
      try {
        read(text);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        return (error as Error).message;
      }
      throw new Error('accepted');
    };
    expect(messageOf(parse)).toBe(messageOf(JSON.parse));
  });
});
