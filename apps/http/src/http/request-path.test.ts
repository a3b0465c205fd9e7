import { expect, test } from 'vitest';
import { queryString, requestPath } from './request-path.ts';

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
