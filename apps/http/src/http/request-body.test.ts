import { describe, expect, test } from 'vitest';
import { parseJson } from './request-body.ts';

const read = (body: string | Buffer) => parseJson(Buffer.from(body as string));

describe(parseJson, () => {
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
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'invalid_request', message }));
  });
});
