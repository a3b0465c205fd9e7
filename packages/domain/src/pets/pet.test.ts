import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DomainError } from '../errors.ts';
import { quote } from '../quote.ts';
import { LIMITS } from './limits.ts';
import { checkedNewPet, type NewPet, PET_STATUSES } from './pet.ts';

function messageFor(given: unknown): string {
  try {
    checkedNewPet(given);
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    expect((error as DomainError).code).toBe('invalid');
    return (error as DomainError).message;
  }
  throw new Error('accepted');
}

const valid = { name: 'Rex', categoryId: 7n };

/** A value that each member rejects. */
const WRONG: Required<Record<keyof NewPet, unknown>> = { name: 7, categoryId: '7', status: 'lost' };

describe('checkedNewPet', () => {
  test.each(Object.entries(WRONG))('rejects a wrong %s, and names it', (member, value) => {
    expect(messageFor({ ...valid, [member]: value })).toMatch(new RegExp(`^${member} must `));
  });

  test('keeps name and categoryId, and status only if it was given', () => {
    expect(checkedNewPet(valid)).toStrictEqual({ name: 'Rex', categoryId: 7n });
    expect(checkedNewPet({ ...valid, status: undefined })).toStrictEqual({ name: 'Rex', categoryId: 7n });
    expect(checkedNewPet({ ...valid, status: 'sold' })).toStrictEqual({ name: 'Rex', categoryId: 7n, status: 'sold' });
  });

  test('reads each member once, so that it returns the checked values', () => {
    const names = ['Rex', ''];
    const given = {
      ...valid,
      get name() {
        return names.shift();
      },
    };
    expect(checkedNewPet(given).name).toBe('Rex');
  });

  test.each(['R', ' Rex ', '\u200b', 'x'.repeat(200), '🐕'.repeat(200)])('accepts the name %j', (name) => {
    expect(checkedNewPet({ ...valid, name }).name).toBe(name);
  });

  test.each([-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n])('accepts the category %d', (categoryId) => {
    expect(checkedNewPet({ ...valid, categoryId }).categoryId).toBe(categoryId);
  });

  test.each([
    ['', 'name must have a character that is not white space'],
    [' \t\n\u00a0\u2003\ufeff', 'name must have a character that is not white space'],
    ['x'.repeat(201), 'name must be at most 200 characters (Unicode code points), was 201'],
    ['🐕'.repeat(201), 'name must be at most 200 characters (Unicode code points), was 201'],
    ['Re\0x', 'name must not contain U+0000'],
    ['Rex \ud800', 'name must be well-formed Unicode, without a lone surrogate'],
    [7n, 'name must be a string, was 7'],
    [null, 'name must be a string, was null'],
    [['Rex'], 'name must be a string, was an array'],
    [undefined, 'name is required'],
  ])('rejects the name %o', (name, message) => {
    expect(messageFor({ ...valid, name })).toBe(message);
  });

  test.each([
    [2n ** 63n, '9223372036854775808'],
    [-(2n ** 63n) - 1n, '-9223372036854775809'],
    ['7', '"7"'],
    ['', '""'],
    ['x'.repeat(40), `"${'x'.repeat(40)}"`],
    ['x'.repeat(41), `"${'x'.repeat(40)}"…`],
    [null, 'null'],
    [['7'], 'an array'],
    [true, 'true'],
    [{}, 'an object'],
    [10n ** 60n, `1${'0'.repeat(39)}…`],
    [7, 'the number 7'],
    [1.5, 'the number 1.5'],
    [Number.NaN, 'the number NaN'],
    [Number.POSITIVE_INFINITY, 'a number out of range'],
    [Number.NEGATIVE_INFINITY, 'a number out of range'],
    [() => 7n, 'an object'],
  ])('rejects the category %s', (categoryId, quoted) => {
    expect(messageFor({ ...valid, categoryId })).toBe(
      `categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was ${quoted}`,
    );
  });

  test.each(['Sold', 'sold ', 'toString', ['sold'], '', null, 0, 0n])('rejects the status %o', (status) => {
    const rule = 'status must be one of available, pending, sold';
    expect(messageFor({ ...valid, status })).toBe(`${rule}, was ${quote(status)}`);
  });

  test.each(PET_STATUSES)('accepts the status %s', (status) => {
    expect(checkedNewPet({ ...valid, status }).status).toBe(status);
  });

  test.each([null, undefined, 'Rex', 7, [], true])('rejects %j instead of an object', (given) => {
    expect(messageFor(given)).toMatch(/^the pet must be an object with name and categoryId, was /);
  });

  test('names all violations at once', () => {
    expect(messageFor({ status: 'lost' })).toBe(
      'name is required; categoryId is required; status must be one of available, pending, sold, was "lost"',
    );
  });

  test('either accepts or throws invalid, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.record({ name: fc.anything(), categoryId: fc.anything() })), (given) => {
        try {
          const { name, categoryId } = checkedNewPet(given);
          expect([typeof name, typeof categoryId]).toEqual(['string', 'bigint']);
        } catch (error) {
          expect(error).toBeInstanceOf(DomainError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the name's pattern", () => {
  test("matches the same white space as ECMAScript's \\s matches", () => {
    const characters = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
    expect(characters.filter((character) => LIMITS.name.pattern.test(character) !== /\S/.test(character))).toEqual([]);
  });
});
