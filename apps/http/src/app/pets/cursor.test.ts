import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorAfter, readCursor } from './cursor.ts';

test('reads the cursors of the least and the greatest id', () => {
  for (const id of [1n, 2n ** 63n - 1n]) expect(readCursor(cursorAfter(id))).toBe(id);
});

test('encodes a position in characters that need no percent-encoding', () => {
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
])('rejects the cursor %j', (text) => {
  expect(readCursor(text)).toBeNull();
});

test('accepts only cursors that the service can issue', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^AQ[\w-]{8,12}$/)), (text) => {
      const id = readCursor(text);
      if (id !== null) expect(cursorAfter(id)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
