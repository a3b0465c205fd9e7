import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { numberLiteral } from './json-member.ts';

describe('numberLiteral', () => {
  test('is null if the last member of the name is not a number', () => {
    for (const last of ['"x"', '{}', '[]', 'null', 'true']) {
      expect(numberLiteral(`{"a":5,"a":${last}}`, 'a')).toBeNull();
    }
  });

  test('is null if the text is not an object', () => {
    for (const text of ['["a",5]', '[1,"a",5]', '5', '"a"', '[{"a":5}]']) expect(numberLiteral(text, 'a')).toBeNull();
  });

  test('is the source text that a reviver of JSON.parse is given, for any member of any object', () => {
    const numbers = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    );
    const names = fc.constantFrom('"categoryId"', '"category\\u0049d"', '"\\u0063ategoryId"');
    const gaps = fc.string({ unit: fc.constantFrom('\t', '\n', '\r', ' '), maxLength: 1 });
    const member = fc
      .oneof(
        fc.tuple(names, numbers),
        fc.tuple(
          fc.string().map((key) => JSON.stringify(key)),
          fc.json(),
        ),
        fc.tuple(names, fc.json()),
      )
      .chain(([name, json]) => fc.tuple(gaps, fc.constant(name), gaps, fc.constant(':'), gaps, fc.constant(json), gaps))
      .map((tokens) => tokens.join(''));
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), gaps, (members, gap) => {
        const text = `${gap}{${members.join(',')}}${gap}`;
        const expected = JSON.parse(text, function (this: unknown, key, value, context?: { source?: string }) {
          return key === 'categoryId' && typeof value === 'number' ? { literal: context?.source } : value;
        }) as { categoryId?: { literal?: string } };
        expect(numberLiteral(text, 'categoryId')).toBe(expected.categoryId?.literal ?? null);
      }),
      { numRuns: 3_000 },
    );
  });
});
