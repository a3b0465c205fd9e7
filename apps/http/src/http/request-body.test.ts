import { describe, expect, test } from 'vitest';
import { HttpError } from './http-error.ts';
import { parseJson } from './request-body.ts';

const read = (body: string | Buffer) => parseJson(Buffer.from(body as string)) as { categoryId: unknown };

function rejectionOf(body: string | Buffer): string {
  try {
    read(body);
  } catch (error) {
    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).code).toBe('invalid_request');
    return (error as HttpError).message;
  }
  throw new Error('accepted');
}

describe(parseJson, () => {
  test.each([
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808n],
    ['7', 7n],
    ['-0', 0n],
    ['1.0', 1n],
    ['1e3', 1000n],
  ])('reads every digit of the category %s', (literal, categoryId) => {
    expect(read(`{"name":"Rex","categoryId":${literal}}`)).toEqual({ name: 'Rex', categoryId });
  });

  // The last two are rounded to integers by JSON.parse.
  test.each(['1.50', '1e400', '1e-400', '45035996273704961e-1'])('keeps the text of the number %s', (literal) => {
    expect(read(`{"categoryId":${literal}}`).categoryId).toMatchObject({ rawJSON: literal });
  });

  test('reads the last of several members with one name', () => {
    expect(read('{"categoryId":1,"category\\u0049d":9007199254740993}').categoryId).toBe(9007199254740993n);
    expect(read('{"categoryId":9007199254740993,"categoryId":2.0}').categoryId).toBe(2n);
  });

  test.each([
    ['', 'the body is empty: send a JSON object with name and categoryId'],
    ['\ufeff{}', 'the body must not begin with a byte order mark'],
    ['[object Object]', `the body is not valid JSON at line 1, column 2: expected a value or ']', was "object"`],
    ['{"name":"Rex"', "the body is not valid JSON at line 1, column 14: expected ',' or '}', but the body ends"],
    [Buffer.from([0x22, 0xff, 0x22]), 'the body must be encoded in UTF-8'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'the body must be encoded in UTF-8'],
    [
      Buffer.from('{"name":"Rex","categoryId":1}', 'utf16le'),
      `the body is not valid JSON at line 1, column 2: expected a name in double quotes or '}', was "\\u0000"`,
    ],
  ])('rejects %j, which is not JSON in UTF-8', (body, message) => {
    expect(rejectionOf(body)).toBe(message);
  });

  test('reads deep nesting beside a number that needs its digits', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(read(`{"x":${deep},"categoryId":9007199254740993}`).categoryId).toBe(9007199254740993n);
    const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    expect(read(`{"categoryId":9007199254740993,"x":${objects}}`).categoryId).toBe(9007199254740993n);
    expect(rejectionOf('['.repeat(65_000))).toMatch(/not valid JSON/);
  });
});
