import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parameterValues, queryString, requestPath } from './url.ts';

test.each([
  ['http://host/v1/pets', '/v1/pets'],
  ['http://host/v1/pets/%37', '/v1/pets/7'],
  ['http://host/v1/pets/%2537', '/v1/pets/%37'],
  ['http://host/v1%2Fpets', '/v1%2Fpets'],
  ['http://host/v1/pets/7%2F', '/v1/pets/7%2F'],
  ['http://host/v1/pets/%zz', '/v1/pets/%zz'],
  ['http://host/v1/pets/%3', '/v1/pets/%3'],
  ['http://host/v1/pets/%ff', '/v1/pets/%ff'],
  ['http://host/v1/pets/%37%ff', '/v1/pets/%37%ff'],
  ['http://host/?/v1/pets', '/'],
  ['http://host/v1/pets?a=%zz', '/v1/pets'],
  ['http://host/v1/pets?a=b?c', '/v1/pets'],
  ['http://[::1]:3000/v1/pets', '/v1/pets'],
])('the path of %s is %s', (url, path) => {
  expect(requestPath({ url })).toBe(path);
});

test('begins the query after the first question mark', () => {
  expect(queryString({ url: 'http://host/v1/pets' })).toBe('');
  expect(queryString({ url: 'http://host/v1/pets?' })).toBe('');
  expect(queryString({ url: 'http://host/v1/pets?a=b?c' })).toBe('a=b?c');
});

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
