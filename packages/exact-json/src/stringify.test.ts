import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from './stringify.ts';

describe('stringify', () => {
  test('writes a bigint with all its digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(stringify({ id, nested: [{ id }] })).toBe(`{"id":${id},"nested":[{"id":${id}}]}`);
      }),
    );
  });

  test('writes everything else as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringify(value)).toBe(JSON.stringify(value));
      }),
    );
  });
});
