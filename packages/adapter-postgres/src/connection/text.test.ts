import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromStored, toStored } from './text.ts';

const notorious = fc.string({ unit: fc.constantFrom('\0', '\\', '0', 'a', '🐕'), maxLength: 12 });

test('a text is stored without NUL, and read as it was', () => {
  fc.assert(
    fc.property(fc.oneof(notorious, fc.string({ unit: 'binary' })), (text) => {
      expect(toStored(text)).not.toContain('\0');
      expect(fromStored(toStored(text))).toBe(text);
    }),
  );
});
