import { LIMITS, PET_STATUSES } from '@animal-store/domain';
import * as fc from 'fast-check';
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { decodePet, type PetDocument } from './documents.ts';

const bytesOf = (document: object) => Buffer.from(BSON.serialize(document));

const int64 = fc.oneof(
  fc.bigInt({ min: LIMITS.categoryId.min, max: LIMITS.categoryId.max }),
  // Around the numbers that 32 bits and 53 bits hold.
  fc
    .tuple(fc.constantFrom(0n, 2n ** 31n, 2n ** 32n, 2n ** 52n, 2n ** 53n), fc.bigInt({ min: -2n, max: 2n }))
    .map(([around, offset]) => around + offset),
);
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\ufeffRex', '🐕'));
const stored = fc
  .record(
    {
      _id: int64,
      name: text,
      categoryId: int64,
      status: fc.constantFrom(...PET_STATUSES),
      createdAt: fc.date({ noInvalidDate: true }),
      idempotency: fc.record({ holder: text, key: text, fingerprint: text }),
    } satisfies Record<keyof PetDocument, unknown>,
    { requiredKeys: ['_id', 'name', 'categoryId'] },
  )
  .chain((document) => fc.shuffledSubarray(Object.entries(document), { minLength: Object.keys(document).length }))
  .map((entries) => Object.fromEntries(entries));

test('decodePet returns the pet of any stored document, whatever the order of its members', () => {
  fc.assert(
    fc.property(stored, (document) => {
      const { _id: id, createdAt: _, idempotency: __, ...pet } = document;
      expect(decodePet(bytesOf(document))).toStrictEqual({ id, ...pet });
    }),
    { numRuns: 1_000 },
  );
});

test('decodePet rejects a member of a type that the schema excludes', () => {
  expect(() => decodePet(bytesOf({ _id: 1n, name: 'Rex', categoryId: 1.5 }))).toThrow(TypeError);
});
