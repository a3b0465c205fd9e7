import { expect, test } from 'vitest';
import { jsonResponse } from '../http/response.ts';
import { createPageCache, isUpToDate } from './page-cache.ts';

test('keeps a bounded number of empty pages', () => {
  const pages = createPageCache();
  const texts = Array.from({ length: 100_000 }, (_, index) => `_=${index}`);
  for (const text of texts) pages.set(text, { query: {}, pets: [], next: null, response: jsonResponse('[]') });
  expect(pages.get('_=99999')).toBeDefined();
  expect(texts.filter((text) => pages.get(text) !== undefined).length).toBeLessThan(45_000);
});

const [rex, max] = [
  { id: 1n, name: 'Rex', categoryId: 1n },
  { id: 2n, name: 'Max', categoryId: 1n },
];

// A backup can be restored while the service runs.
test.each([
  ['with the same pets', { pets: [rex, max], next: 2n }, true],
  ['in which a pet has changed', { pets: [rex, { ...max, name: 'Moritz' }], next: 2n }, false],
  ['without its last pet', { pets: [rex], next: 2n }, false],
  ['that has become the last', { pets: [rex, max], next: null }, false],
])('takes a cached page for up to date beside one %s', (_, page, expected) => {
  expect(isUpToDate({ pets: [rex, max], next: 2n }, page)).toBe(expected);
});

test.each([
  ['query strings', 'x'.repeat(1_000_000), [], ''],
  ['pets', '', Array(125_000).fill(rex), ''],
  ['bodies', '', [], 'x'.repeat(1_000_000)],
])('keeps sixteen pages with a megabyte of %s at most', (_, text, pets, body) => {
  const pages = createPageCache();
  const texts = Array.from({ length: 24 }, (_, index) => `${index}${text}`);
  for (const text of texts) pages.set(text, { query: {}, pets, next: null, response: jsonResponse(body) });
  expect(pages.get(texts[7] as string)).toBeUndefined();
  expect(pages.get(texts[8] as string)).toBeDefined();
});
