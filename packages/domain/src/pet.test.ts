import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DomainError } from './domain-error.ts';
import { NAME_PATTERN, parseNewPet } from './pet.ts';
import { NumberLiteral } from './quote.ts';

function faultOf(candidate: unknown): string {
  try {
    parseNewPet(candidate);
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    expect((error as DomainError).code).toBe('invalid_request');
    return (error as DomainError).message;
  }
  throw new Error('accepted');
}

const valid = { name: 'Rex', categoryId: 7n };

describe('an animal that can be added', () => {
  test('has a name and a category; a status only where one was given', () => {
    expect(parseNewPet(valid)).toStrictEqual({ name: 'Rex', categoryId: 7n });
    expect(parseNewPet({ ...valid, status: undefined })).toStrictEqual({ name: 'Rex', categoryId: 7n });
    expect(parseNewPet({ ...valid, status: 'sold' })).toStrictEqual({ name: 'Rex', categoryId: 7n, status: 'sold' });
  });

  test('ignores members that no animal has, an id among them', () => {
    expect(parseNewPet({ ...valid, id: 'x', legs: 4, constructor: 1 })).toStrictEqual({ name: 'Rex', categoryId: 7n });
  });

  test.each(['R', ' Rex ', '\u200b', 'x'.repeat(200), '🐕'.repeat(200), '\u0000'])('can be called %j', (name) => {
    expect(parseNewPet({ ...valid, name }).name).toBe(name);
  });

  test.each([-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n])('can be of category %d', (categoryId) => {
    expect(parseNewPet({ ...valid, categoryId }).categoryId).toBe(categoryId);
  });
});

test("white space in a name is what ECMAScript's \\s matches", () => {
  for (let unit = 0; unit < 0x1_0000; unit += 1) {
    const character = String.fromCharCode(unit);
    expect([unit, NAME_PATTERN.test(character)]).toEqual([unit, /\S/.test(character)]);
  }
});

describe('what is no animal', () => {
  test.each([
    ['', 'name must have a character that is not white space'],
    [' \t\n\u00a0\u2003\ufeff', 'name must have a character that is not white space'],
    ['x'.repeat(201), 'name must be at most 200 characters (Unicode code points), was 201'],
    ['🐕'.repeat(201), 'name must be at most 200 characters (Unicode code points), was 201'],
    ['x'.repeat(100_000), 'name must be at most 200 characters (Unicode code points), was 100000'],
    ['Rex \ud800', 'name must be well-formed Unicode, without a lone surrogate'],
    [7, 'name must be a string, was a number'],
    [null, 'name must be a string, was null'],
    [['Rex'], 'name must be a string, was an array'],
    [undefined, 'name is required'],
  ])('the name %j', (name, violation) => {
    expect(faultOf({ ...valid, name })).toBe(violation);
  });

  test.each([
    [2n ** 63n, '9223372036854775808'],
    [-(2n ** 63n) - 1n, '-9223372036854775809'],
    [new NumberLiteral('1.50'), '1.50'],
    [new NumberLiteral('1'.repeat(40)), '1'.repeat(40)],
    [new NumberLiteral('1'.repeat(41)), `${'1'.repeat(40)}…`],
    ['7', '"7"'],
    [true, 'true'],
    [{}, 'an object'],
    [10n ** 60n, `1${'0'.repeat(39)}…`],
  ])('the category %s', (categoryId, quote) => {
    expect(faultOf({ ...valid, categoryId })).toBe(
      `categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was ${quote}`,
    );
  });

  test('a category of few digits that is a number all the same', () => {
    expect(faultOf({ ...valid, categoryId: 7 })).toBe('categoryId must be a bigint, was the number 7');
  });

  test.each([
    ['Sold', '"Sold"'],
    ['', '""'],
    [null, 'null'],
    [0, 'a number'],
    ['x'.repeat(40), `"${'x'.repeat(40)}"`],
    ['x'.repeat(1000), `"${'x'.repeat(40)}"…`],
  ])('the status %j', (status, quote) => {
    expect(faultOf({ ...valid, status })).toBe(`status must be one of available, pending, sold, was ${quote}`);
  });

  test.each([null, undefined, 'Rex', 7, [], true])('%j instead of an object', (candidate) => {
    expect(faultOf(candidate)).toMatch(/^the animal must be an object with name and categoryId, was /);
  });

  test('all violations are named at once', () => {
    expect(faultOf({ status: 'lost' })).toBe(
      'name is required; categoryId is required; status must be one of available, pending, sold, was "lost"',
    );
  });

  test('anything at all is either an animal or invalid_request', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.record({ name: fc.anything(), categoryId: fc.anything() })),
        (candidate) => {
          try {
            const { name, categoryId } = parseNewPet(candidate);
            expect([typeof name, typeof categoryId]).toEqual(['string', 'bigint']);
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
