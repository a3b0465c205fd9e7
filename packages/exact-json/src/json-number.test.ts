import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { integerOf } from './json-number.ts';

describe('integerOf', () => {
  test.each([
    ['0', 0n],
    ['-0', 0n],
    ['0.000', 0n],
    ['0e999999999999', 0n],
    ['1', 1n],
    ['-1', -1n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['1.5e1', 15n],
    ['100e-2', 1n],
    ['-12300.00e-2', -123n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775807.000', 9223372036854775807n],
    ['92233720368547758.07e2', 9223372036854775807n],
    ['0.0000000000000000001e19', 1n],
  ])('of %s is %d', (literal, integer) => {
    expect(integerOf(literal)).toBe(integer);
  });

  test.each([
    '1.5',
    '1e-1',
    '9007199254740993.5',
    '1.00000000000000000000000001',
    '1e-999999999999',
    '1e400',
    '1e999999999999',
  ])('of %s is null', (literal) => {
    expect(integerOf(literal)).toBeNull();
  });

  test('is null for more than 100 digits, however many they are', () => {
    expect(integerOf('9'.repeat(100))).toBe(10n ** 100n - 1n);
    expect(integerOf('9'.repeat(101))).toBeNull();
    expect(integerOf(`1${'0'.repeat(1_000_000)}`)).toBeNull();
    expect(integerOf(`1${'0'.repeat(300_000)}1`)).toBeNull();
    expect(integerOf(`0.${'0'.repeat(1_000_000)}1e1000001`)).toBe(1n);
  });

  test('is an integer for any decimal exactly if it has no fraction', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 });
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        digits,
        fc.integer({ min: -30, max: 30 }),
        (whole, fraction, exponent) => {
          const literal = `${whole}${fraction === '' ? '' : `.${fraction}`}e${exponent}`;
          // The same number as a fraction of integers: digits / 10^places, by schoolbook arithmetic.
          const magnitude = BigInt(`${whole < 0n ? -whole : whole}${fraction}`);
          const places = fraction.length - exponent;
          const [numerator, denominator] =
            places <= 0 ? [magnitude * 10n ** BigInt(-places), 1n] : [magnitude, 10n ** BigInt(places)];
          const expected = numerator % denominator === 0n ? (whole < 0n ? -1n : 1n) * (numerator / denominator) : null;
          expect(integerOf(literal)).toBe(expected);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
