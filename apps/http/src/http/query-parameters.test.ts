import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parameterValues } from './query-parameters.ts';

test('reads any query as URLSearchParams does', () => {
  const piece = fc.constantFrom('limit', 'status', 'lim', 'limits', '=', '&', '%6C', '%', '+', '5', '?', '#', 'é', '');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom('limit', 'status'), (pieces, name) => {
      const text = pieces.join('');
      // A leading question mark is one of the query's own here: the first has been taken off with the path.
      expect(parameterValues(text, name)).toEqual(new URLSearchParams(`?${text}`).getAll(name));
    }),
    { numRuns: 10_000 },
  );
});
