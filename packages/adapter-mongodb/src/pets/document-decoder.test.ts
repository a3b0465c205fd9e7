import { LIMITS, PET_STATUSES, type Pet } from '@animal-store/domain';
import * as fc from 'fast-check';
import { BSON } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { createDocumentDecoder } from './document-decoder.ts';
import { type PetDocument, petOf } from './pet-document.ts';

const PLENTY = 1_000_000;

/** The documents of a response to `find`, as the driver passes them on undecoded. */
function undecoded(documents: readonly object[]): Buffer[] {
  const response = BSON.serialize({ cursor: { firstBatch: documents, id: 0n, ns: 'animals.pets' }, ok: 1 });
  return BSON.deserialize(response, { fieldsAsRaw: { firstBatch: true } })['cursor'].firstBatch;
}

const bytesOf = (document: object) => Buffer.from(BSON.serialize(document));

const byDriver = (bytes: Buffer): Pet => petOf(BSON.deserialize(bytes, { useBigInt64: true }) as PetDocument);

const rex = (id: bigint, name = 'Rex') => bytesOf({ _id: id, name, categoryId: 1n });

const int64 = fc.bigInt({ min: LIMITS.categoryId.min, max: LIMITS.categoryId.max });
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\0', '\ufeffRex', 'Rex\0', '🐕'));
const storedByUs = fc.record(
  { _id: int64, name: text, categoryId: int64, status: fc.constantFrom(...PET_STATUSES) },
  { requiredKeys: ['_id', 'name', 'categoryId'] },
);
/** Documents of another writer, stored before there was a schema: other types, other members, another order. */
const storedByOthers = fc
  .tuple(
    storedByUs,
    fc.dictionary(
      fc.constantFrom('_id', 'name', 'categoryId', 'status', 'colour'),
      fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true }),
        fc.constant(null),
        text,
        fc.dictionary(fc.constant('a'), text),
      ),
    ),
    fc.shuffledSubarray(['_id', 'name', 'categoryId', 'status', 'colour'], { minLength: 5 }),
  )
  .map(([pet, others, order]) => {
    const document: Record<string, unknown> = { ...pet, ...others };
    return Object.fromEntries(order.filter((member) => member in document).map((member) => [member, document[member]]));
  });

describe('createDocumentDecoder', () => {
  test('decodes any document as the driver does, each time', () => {
    const decodePet = createDocumentDecoder(PLENTY);
    fc.assert(
      fc.property(fc.array(fc.oneof(storedByUs, storedByOthers), { maxLength: 12 }), (documents) => {
        const responses = [undecoded(documents), undecoded(documents.toReversed()).toReversed()];
        for (const response of responses) {
          expect(response.map(decodePet)).toStrictEqual(documents.map((document) => byDriver(bytesOf(document))));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('leaves out the idempotency key of a pet', () => {
    const idempotency = { holder: 'shop', key: 'k1', fingerprint: '["Rex","1",null]' };
    const decodePet = createDocumentDecoder(PLENTY);
    const pet = decodePet(bytesOf({ _id: 1n, name: 'Rex', categoryId: 1n, idempotency }));
    expect(pet).toStrictEqual({ id: 1n, name: 'Rex', categoryId: 1n });
  });

  test('returns the same frozen pet for equal bytes', () => {
    const decodePet = createDocumentDecoder(PLENTY);
    const pet = decodePet(rex(1n));
    expect(decodePet(rex(1n))).toBe(pet);
    expect(Object.isFrozen(pet)).toBe(true);
  });

  test('does not depend on the response after it has returned', () => {
    const decodePet = createDocumentDecoder(PLENTY);
    const bytes = rex(1n);
    decodePet(bytes);
    bytes.write('Max', bytes.indexOf('Rex'));
    expect(decodePet(rex(1n)).name).toBe('Rex');
    expect(decodePet(bytes).name).toBe('Max');
  });
});
