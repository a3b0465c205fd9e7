import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../http/http-error.ts';
import { readNewPetBody } from './new-pet-body.ts';

const read = (text: string | Buffer) => readNewPetBody(Buffer.from(text as string)) as { categoryId: unknown };

function refusalOf(body: string | Buffer): string {
  try {
    read(body);
  } catch (error) {
    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).code).toBe('invalid_request');
    return (error as HttpError).message;
  }
  throw new Error('accepted');
}

describe('categoryId', () => {
  test.each([
    ['{"categoryId":9223372036854775807}', 9223372036854775807n],
    ['{"categoryId":-9223372036854775808}', -9223372036854775808n],
    ['{"categoryId":9007199254740993}', 9007199254740993n],
    ['{"categoryId":-0}', 0n],
    ['{"categoryId":1.0}', 1n],
    ['{"categoryId":1e3,"name":"x"}', 1000n],
    ['{"name":"version 2.0","categoryId":5}', 5n],
    ['{"categoryId":1,"categoryId":9007199254740993}', 9007199254740993n],
    ['{"categoryId":9007199254740993,"categoryId":2.0}', 2n],
    ['{"category\\u0049d":9007199254740993}', 9007199254740993n],
    ['{"x":{"categoryId":1.0},"categoryId":9007199254740993}', 9007199254740993n],
    ['{"categoryId":9007199254740993,"x":[{"categoryId":1.0}]}', 9007199254740993n],
    [' {\n"a" : "}{\\"" , "categoryId"\t:\r9007199254740993 } ', 9007199254740993n],
    ['{"categoryId":9223372036854775808}', 9223372036854775808n],
  ])('of %s is exact', (text, categoryId) => {
    expect(read(text).categoryId).toBe(categoryId);
  });

  test.each([
    '1.5',
    '9007199254740993.5',
    '"1"',
    'true',
    'null',
    '[1]',
    '{"categoryId":1}',
    '1.0000000000000000000001',
    // These are rounded to integers.
    '1e-400',
    '1E-400',
    '45035996273704961e-1',
    '45035996273704961E-1',
  ])('of %s is no integer', (literal) => {
    expect(typeof read(`{"categoryId":${literal}}`).categoryId).not.toBe('bigint');
  });
});

describe('bytes that are no JSON', () => {
  test.each([
    ['', 'the body is empty: send a JSON object with name and categoryId'],
    ['\ufeff{}', 'the body must not begin with a byte order mark'],
    ['[object Object]', `the body is not valid JSON at line 1, column 2: expected a value or ']', was "object"`],
    ['{"name":"Rex"', "the body is not valid JSON at line 1, column 14: expected ',' or '}', but the body ends"],
    [Buffer.from([0x22, 0xff, 0x22]), 'the body must be encoded in UTF-8'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'the body must be encoded in UTF-8'],
    [
      Buffer.from('{"name":"Rex","categoryId":1}', 'utf16le'),
      /^the body is not valid JSON at line 1, column 2: expected a name .*, was "\\u0000"$/,
    ],
  ])('%j', (body, message) => {
    if (typeof message === 'string') expect(refusalOf(body)).toBe(message);
    else expect(refusalOf(body)).toMatch(message);
  });

  test('reads deep nesting before a number that needs its digits', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(read(`{"x":${deep},"categoryId":9007199254740993}`).categoryId).toBe(9007199254740993n);
    const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    expect(read(`{"categoryId":9007199254740993,"x":${objects}}`).categoryId).toBe(9007199254740993n);
    expect(refusalOf('['.repeat(65_000))).toMatch(/not valid JSON/);
  });
});

test('reads any JSON object as JSON.parse does, except the digits of categoryId', () => {
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom('a', 'b', 'name', 'categoryId', '__proto__') }), (object) => {
      const text = JSON.stringify(object);
      const { categoryId: _, ...others } = readNewPetBody(Buffer.from(text)) as { categoryId: unknown };
      const { categoryId: __, ...same } = JSON.parse(text) as { categoryId: unknown };
      expect(others).toEqual(same);
    }),
    { numRuns: 1_000 },
  );
});
