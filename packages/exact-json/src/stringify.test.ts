import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
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
  describe('in a runtime without JSON.rawJSON', () => {
    afterEach(() => {
      vi.unstubAllGlobals();
      vi.resetModules();
    });

    test('throws at import, so that no integer is rounded', async () => {
      vi.stubGlobal('JSON', { ...JSON, parse: JSON.parse, stringify: JSON.stringify });
      vi.resetModules();
      await expect(import('./index.ts')).rejects.toThrow('@animal-store/exact-json needs JSON.rawJSON, as Node.js 22');
    });
  });
});
