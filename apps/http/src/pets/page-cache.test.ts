import { expect, test } from 'vitest';
import { jsonResponse } from '../http/response.ts';
import { createPageCache } from './page-cache.ts';

test('keeps a bounded number of empty pages', () => {
  const pages = createPageCache();
  const texts = Array.from({ length: 100_000 }, (_, index) => `_=${index}`);
  for (const text of texts) pages.set(text, { query: {}, pets: [], next: null, response: jsonResponse('[]') });
  expect(pages.get('_=99999')).toBeDefined();
  expect(texts.filter((text) => pages.get(text) !== undefined).length).toBeLessThan(45_000);
});
