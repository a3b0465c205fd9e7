import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberLiteral } from './json-member.ts';

test('a last member that is no number hides an earlier one', () => {
  for (const last of ['"x"', '{}', '[]', 'null', 'true']) {
    expect(numberLiteral(`{"a":5,"a":${last}}`, 'a')).toBeNull();
  }
});

test('only an object has members', () => {
  for (const text of ['["a",5]', '[1,"a",5]', '5', '"a"', '[{"a":5}]']) expect(numberLiteral(text, 'a')).toBeNull();
});

test('the literal of any member of any object is the one that a reviver is shown', () => {
  const numbers = fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  );
  const member = fc.oneof(
    numbers.map((literal) => `"categoryId":${literal}`),
    fc.tuple(fc.string(), fc.json()).map(([key, json]) => `${JSON.stringify(key)}:${json}`),
    fc.json().map((json) => `"categoryId":${json}`),
  );
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), (members) => {
      const text = `{${members.join(',')}}`;
      // A reviver that is told the source says the same by another way.
      const expected = JSON.parse(text, function (this: unknown, key, value, context?: { source?: string }) {
        return key === 'categoryId' && typeof value === 'number' ? { literal: context?.source } : value;
      }) as { categoryId?: { literal?: string } };
      expect(numberLiteral(text, 'categoryId')).toBe(expected.categoryId?.literal ?? null);
    }),
    { numRuns: 3_000 },
  );
});
