import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactJson } from './exact-json.ts';
import { numberLiteral } from './json-member.ts';
import { integerOf } from './json-number.ts';

test('a bigint is written with all its digits, and read back with them', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
      const text = exactJson({ id, nested: [{ id }] });
      expect(text).toBe(`{"id":${id},"nested":[{"id":${id}}]}`);
      expect(integerOf(numberLiteral(text, 'id') as string)).toBe(id);
    }),
  );
});

test('everything else is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(exactJson(value)).toBe(JSON.stringify(value));
    }),
  );
});
