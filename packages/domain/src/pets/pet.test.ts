import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DomainError } from '../errors.ts';
import { quote } from '../quote.ts';
import { LIMITS } from './limits.ts';
import { checkedNewPet, type NewPet, PET_STATUSES } from './pet.ts';
import { NEW_PET_PROPERTIES } from './pet-schema.ts';

const rex = { name: 'Rex', categoryId: 7n };

function expectRejected(given: unknown, message: unknown): void {
  expect(() => checkedNewPet(given)).toThrow(
    expect.objectContaining({ name: 'DomainError', code: 'invalid', message }),
  );
}

type Rows = readonly (readonly [value: unknown, message: string])[];

/** Values that break rules of members which are in words only, for the schemas of requests, and the message. */
const REJECTED_IN_WORDS: Partial<Record<keyof NewPet, Rows>> = {
  name: [
    [' \t\n\u00a0\u2003\ufeff', 'name must have a character that is not white space'],
    ['Re\0x', 'name must not contain U+0000'],
    ['Rex \ud800', 'name must be well-formed Unicode, without a lone surrogate'],
  ],
};

/** Values that break a rule of a member, which its schema has, too, and the message. */
const REJECTED: Required<Record<keyof NewPet, Rows>> = {
  name: [
    ['', 'name must have a character that is not white space'],
    ['x'.repeat(201), 'name must be at most 200 characters (Unicode code points), was 201'],
    ['🐕'.repeat(201), 'name must be at most 200 characters (Unicode code points), was 201'],
    [7n, 'name must be a string, was 7'],
    [null, 'name must be a string, was null'],
    [['Rex'], 'name must be a string, was an array'],
    [undefined, 'name is required'],
  ],
  categoryId: [
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
  ].map(([value, quoted]) => [
    value,
    `categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was ${quoted}`,
  ]),
  status: ['Sold', 'sold ', 'toString', ['sold'], '', null, 0, 0n].map((value) => [
    value,
    `status must be one of available, pending, sold, was ${quote(value)}`,
  ]),
};

const ACCEPTED: Required<Record<keyof NewPet, readonly unknown[]>> = {
  name: ['R', ' Rex ', '\u200b', 'x'.repeat(200), '🐕'.repeat(200)],
  categoryId: [-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n],
  status: PET_STATUSES,
};

/** The rows of a table of members, each with the name of its member. */
const rowsOf = <Row>(table: Partial<Record<keyof NewPet, readonly Row[]>>) =>
  (Object.entries(table) as [keyof NewPet, readonly Row[]][]).flatMap(([member, rows]) =>
    rows.map((row) => [member, row] as const),
  );

describe('checkedNewPet', () => {
  test.each(rowsOf(ACCEPTED))('accepts the %s %o, and keeps it as it is', (member, value) => {
    expect(checkedNewPet({ ...rex, [member]: value })).toStrictEqual({ ...rex, [member]: value });
  });

  test.each([...rowsOf(REJECTED), ...rowsOf(REJECTED_IN_WORDS)])('rejects the %s %o', (member, [value, message]) => {
    expectRejected({ ...rex, [member]: value }, message);
  });

  test.each([null, undefined, 'Rex', 7, [], true])('rejects %j instead of an object', (given) => {
    expectRejected(given, expect.stringMatching(/^the pet must be an object with name and categoryId, was /));
  });

  test('names all violations at once', () => {
    const message =
      'name is required; categoryId is required; status must be one of available, pending, sold, was "lost"';
    expectRejected({ status: 'lost' }, message);
  });

  test('returns a copy without other members, and without a status that is undefined', () => {
    expect(checkedNewPet({ ...rex, id: 5n, legs: 4, status: undefined })).toStrictEqual(rex);
  });

  test('reads each member once, so that it returns the checked values', () => {
    const names = ['Rex', ''];
    const given = {
      ...rex,
      get name() {
        return names.shift();
      },
    };
    expect(checkedNewPet(given).name).toBe('Rex');
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

test("a name's pattern matches the same white space as ECMAScript's \\s matches", () => {
  const characters = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
  expect(characters.filter((character) => LIMITS.name.pattern.test(character) !== /\S/.test(character))).toEqual([]);
});

describe('the schema of a member', () => {
  /** The keywords of JSON Schema, which counts code points. Integers are exact. */
  const KEYWORDS: Readonly<Record<string, (given: never, value: never) => boolean>> = {
    type: (type: string, value: unknown) => typeof value === (type === 'integer' ? 'bigint' : type),
    format: () => true,
    enum: (values: readonly unknown[], value: unknown) => values.includes(value),
    minLength: (min: number, value: string) => [...value].length >= min,
    maxLength: (max: number, value: string) => [...value].length <= max,
    minimum: (min: bigint, value: bigint) => value >= min,
    maximum: (max: bigint, value: bigint) => value <= max,
  };
  const accepts = (member: keyof NewPet, value: unknown) =>
    Object.entries(NEW_PET_PROPERTIES[member]).every(([keyword, given]) =>
      KEYWORDS[keyword]?.(given as never, value as never),
    );

  test.each(rowsOf(REJECTED))('rejects what a creation rejects: the %s %o', (member, [value]) => {
    expect(accepts(member, value)).toBe(false);
  });

  test.each([...rowsOf(ACCEPTED), ...rowsOf(REJECTED_IN_WORDS).map(([member, [value]]) => [member, value] as const)])(
    'accepts what a creation accepts, or rejects by a rule in words: the %s %o',
    (member, value) => {
      expect(accepts(member, value)).toBe(true);
    },
  );
});
