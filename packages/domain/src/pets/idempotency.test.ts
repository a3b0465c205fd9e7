import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quote } from '../quote.ts';
import { fingerprint, holderOf, idempotencyViolations, jsonOf, MAX_FINGERPRINT_BYTES } from './idempotency.ts';
import { LIMITS } from './limits.ts';
import { NEW_PET_MEMBERS, type NewPet, PET_STATUSES } from './pet.ts';

const newPets: fc.Arbitrary<NewPet> = fc.record(
  {
    // Few letters and JSON's own characters make different pets similar.
    name: fc.string({ unit: fc.constantFrom('a', '"', ',', '[', ']', '\\', '1', 'é', '🐕'), maxLength: 4 }),
    categoryId: fc.bigInt({ min: -12n, max: 12n }),
    status: fc.constantFrom('available' as const, 'sold' as const),
  } satisfies Record<keyof NewPet, unknown>,
  { requiredKeys: ['name', 'categoryId'] },
);

test('holderOf returns the same text in every version, because storages keep it', () => {
  const texts = [' import ', ' command line ', ' mcp '];
  expect(texts.map((text) => holderOf(text.trim()))).toEqual(texts);
});

describe('fingerprint', () => {
  test('is the same in every version, because storages keep it', () => {
    expect(fingerprint({ name: 'Rex', categoryId: 7n })).toBe('["Rex","7",null]');
    expect(fingerprint({ status: 'sold', categoryId: -(2n ** 63n), name: '"\u0001' })).toBe(
      '["\\"\\u0001","-9223372036854775808","sold"]',
    );
    // With an optional member that is added later.
    expect(jsonOf(['Rex', 7n, undefined, undefined])).toBe('["Rex","7",null]');
    expect(jsonOf(['Rex', 7n, undefined, 'Bello'])).toBe('["Rex","7",null,"Bello"]');
  });

  test('has as many bytes as MAX_FINGERPRINT_BYTES says, or fewer', () => {
    const { min: categoryId } = LIMITS.categoryId;
    const names = ['\u0001', '"', '🐕', 'é'].map((letter) => letter.repeat(LIMITS.name.maxLength));
    const pets: Required<NewPet>[] = names.flatMap((name) =>
      PET_STATUSES.map((status) => ({ name, categoryId, status })),
    );
    expect(Math.max(...pets.map((pet) => Buffer.byteLength(fingerprint(pet))))).toBe(MAX_FINGERPRINT_BYTES);
  });

  test('is the same for two pets exactly if they are the same', () => {
    fc.assert(
      fc.property(newPets, newPets, (one, other) => {
        const same = NEW_PET_MEMBERS.every((name) => one[name] === other[name]);
        expect(fingerprint(one) === fingerprint(other)).toBe(same);
        expect(fingerprint({ ...one })).toBe(fingerprint(one));
      }),
      {
        numRuns: 5_000,
        examples: [
          // The same double, and the same letter.
          [2n ** 53n, 2n ** 53n + 1n].map((categoryId) => ({ name: 'Rex', categoryId })) as [NewPet, NewPet],
          ['é', 'e\u0301'].map((name) => ({ name, categoryId: 1n })) as [NewPet, NewPet],
        ],
      },
    );
  });
});

describe('idempotencyViolations', () => {
  test.each([
    ['order-1', '"order-1"'],
    [null, 'null'],
  ])('rejects %j in the place of a key and its holder', (given, quoted) => {
    expect(idempotencyViolations(given)).toEqual({
      idempotencyKey: `the idempotency key must be an object with holder and key, was ${quoted}`,
    });
  });

  test.each(['a\ud800', '\udc00', 'a\0b', 7, undefined, '🐕'.repeat(101)])(
    'rejects the holder %j, which some storages cannot distinguish from others or not index',
    (holder) => {
      const rule = 'at most 100 code points of well-formed Unicode without U+0000';
      expect(idempotencyViolations({ holder, key: 'k' })).toEqual({
        idempotencyKey: null,
        holder: `the holder of an idempotency key must be ${rule}, was ${quote(holder)}`,
      });
    },
  );

  test.each(['', 'a b', 'k\n', 'ключ', '\u007f', 'k'.repeat(256), 7, undefined])('rejects the key %j', (key) => {
    expect(idempotencyViolations({ holder: '', key })).toEqual({
      idempotencyKey: `the idempotency key must be 1 to 255 visible ASCII characters, was ${quote(key)}`,
      holder: null,
    });
  });

  test.each([
    ['', '!'],
    [' orders', '~'],
    ['🐕'.repeat(100), 'k'.repeat(255)],
  ])('accepts the holder %j and the key %j', (holder, key) => {
    expect(idempotencyViolations({ holder, key })).toEqual({ idempotencyKey: null, holder: null });
  });
});
