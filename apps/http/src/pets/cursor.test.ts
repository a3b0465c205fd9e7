import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorAfter, readCursor } from './cursor.ts';

test('a cursor names its place, in characters that a URL can hold as they are', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (id) => {
      const cursor = cursorAfter(id);
      expect(encodeURIComponent(cursor)).toBe(cursor);
      expect(readCursor(cursor)).toBe(id);
    }),
  );
});

test.each([
  '',
  'x',
  '5',
  'AAAAAAAAAAAA',
  'AQAAAAAAAAAA',
  'Af__________',
  'AgAAAAAAAAAB',
  'AQAAAAAAAAAB=',
  ' AQAAAAAAAAAB',
  'AQAAAAAAAAA',
  'AQAAAAAAAAABAAAA',
  'AQAAAAAAAAA+',
])('%j is no cursor', (text) => {
  expect(readCursor(text)).toBeNull();
});

test('whatever is read as a cursor is one that could have been given', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^AQ[\w-]{8,12}$/)), (text) => {
      const id = readCursor(text);
      if (id !== null) expect(cursorAfter(id)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
