import { PET_STATUSES, type PetStatus } from '@animal-store/domain';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toStored } from '../connection/text.ts';
import { petOf } from './pet-statements.ts';

test('a pet as one text is decoded as it was', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(' ', '\n', '\0', '\\', '7') }),
  );
  const status = fc.constantFrom(undefined, ...PET_STATUSES, 'on-hold' as PetStatus);
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 53n - 1n }), int64, status, name, (id, categoryId, status, name) => {
      const stored = [id, categoryId, status, toStored(name)].join(' ');
      expect(petOf(stored)).toStrictEqual({ id, name, categoryId, ...(status && { status }) });
    }),
  );
});

test.each(['', '-7 1 sold Rex', '7 1 Rex', '7 sold Rex'])('an undecodable pet is an error: "%s"', (stored) => {
  expect(() => petOf(stored)).toThrow('a stored pet cannot be decoded');
});
