import type { Pet } from '@animal-store/domain';
import { describe, expect, test } from 'vitest';
import { jsonResponse } from '../http/response.ts';
import { createPageCache, isUpToDate, PAGE_BYTES } from './page-cache.ts';

const pet = (id: bigint): Pet => ({ id, name: 'Rex', categoryId: 7n });
const page = (body: string) => ({ query: {}, pets: [pet(1n)], next: null, response: jsonResponse(body) });

describe(createPageCache, () => {
  test('returns the page that was set last for a query string', () => {
    const pages = createPageCache();
    pages.set('limit=1', page('[1]'));
    pages.set('limit=2', page('[2]'));
    pages.set('limit=1', page('[3]'));
    expect(pages.get('limit=1')?.response.body).toBe('[3]');
    expect(pages.get('limit=2')?.response.body).toBe('[2]');
    expect(pages.get('limit=3')).toBeUndefined();
  });

  test('drops the oldest pages if all together exceed the limit', () => {
    const pages = createPageCache(2 * (PAGE_BYTES + 'a'.length + 8 + '1234'.length));
    pages.set('a', page('1234'));
    pages.set('b', page('1234'));
    expect(pages.get('a')).toBeDefined();
    pages.set('c', page('1234'));
    expect([pages.get('a'), pages.get('b') !== undefined, pages.get('c') !== undefined]).toEqual([
      undefined,
      true,
      true,
    ]);
    // A page that replaces its predecessor frees what that took.
    for (let turn = 0; turn < 10; turn += 1) pages.set('c', page('1234'));
    expect(pages.get('b')).toBeDefined();
    pages.set('d', page('x'.repeat(2 * PAGE_BYTES)));
    expect(['b', 'c', 'd'].map((text) => pages.get(text))).toEqual([undefined, undefined, undefined]);
  });

  test('keeps a bounded number of empty pages', () => {
    const pages = createPageCache(100 * PAGE_BYTES);
    const texts = Array.from({ length: 1_000 }, (_, index) => `_=${index}`);
    for (const text of texts) pages.set(text, { query: {}, pets: [], next: null, response: jsonResponse('[]') });
    expect(texts.filter((text) => pages.get(text) !== undefined).length).toBeLessThan(100);
  });
});

describe(isUpToDate, () => {
  const first = pet(1n);
  const cached = { pets: [first, pet(2n)], next: 2n };

  test('is true if the storage returned the same objects', () => {
    expect(isUpToDate(cached, { pets: [...cached.pets], next: 2n })).toBe(true);
  });

  test.each([
    ['another object for a pet', [first, pet(2n)], 2n],
    ['fewer pets', [first], 2n],
    ['more pets', [...cached.pets, pet(3n)], 2n],
    ['another next page', cached.pets, null],
  ])('is false if the storage returned %s', (_, pets, next) => {
    expect(isUpToDate(cached, { pets, next })).toBe(false);
  });
});
