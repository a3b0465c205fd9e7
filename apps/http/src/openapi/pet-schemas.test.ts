import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NAME_PATTERN_OF_DOCUMENT } from './pet-schemas.ts';

const catalogue = createAwaitableCatalogue(createMemoryStorage().pets);

const accepts = (name: string) => {
  try {
    catalogue.createPet({ name, categoryId: 1n });
    return true;
  } catch {
    return false;
  }
};

test('the pattern of a name in the document accepts the names that the domain accepts', () => {
  const whiteSpace = fc.constantFrom(...'\t\n\v\f\r \u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff');
  const names = fc.string({ unit: fc.oneof(whiteSpace, fc.constantFrom('R', '\u0085', '\u200b', '🐕')), maxLength: 8 });
  const pattern = new RegExp(NAME_PATTERN_OF_DOCUMENT, 'u');
  fc.assert(
    fc.property(names, (name) => {
      expect(pattern.test(name)).toBe(accepts(name));
    }),
    { numRuns: 2_000 },
  );
});

test('the pattern of a name has only escapes that validators in other languages accept', () => {
  expect(NAME_PATTERN_OF_DOCUMENT).not.toMatch(/\\[^sS]/);
});
