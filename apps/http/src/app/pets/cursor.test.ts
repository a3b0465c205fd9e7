import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorAfter, readCursor } from './cursor.ts';

test('encodes any id in characters that need no percent-encoding, and reads it again', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (id) => {
      const cursor = cursorAfter(id);
      expect(encodeURIComponent(cursor)).toBe(cursor);
      expect(readCursor(cursor)).toBe(id);
    }),
    { examples: [[1n], [2n ** 63n - 1n]] },
  );
});

const OTHERS = [
  ...['', 'x', '5', 'AAAAAAAAAAAA', 'AQAAAAAAAAAA', 'Af__________', 'AgAAAAAAAAAB', 'AQAAAAAAAAAB=', ' AQAAAAAAAAAB'],
  ...['AQAAAAAAAAA', 'AQAAAAAAAAABAAAA', 'AQAAAAAAAAA+', '../../etc', '%00'],
];

test('accepts only cursors that the service can issue', () => {
  for (const text of OTHERS) expect(readCursor(text), text).toBeNull();
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^AQ[\w-]{8,12}$/)), (text) => {
      const id = readCursor(text);
      if (id !== null) expect(cursorAfter(id)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
