import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { parseJson, requireJson } from './request-body.ts';

const read = (body: string | Buffer) => parseJson(Buffer.from(body as string));

describe(requireJson, () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const check = (headers: object) => () => requireJson({ headers } as IncomingMessage);

  test.each([
    [{}, 'unsupported_media_type', 'send the animal as Content-Type: application/json'],
    [{ 'content-type': 'text/plain' }, 'unsupported_media_type', 'send the animal as Content-Type: application/json'],
    [
      { ...JSON_TYPE, 'content-encoding': 'identity, gzip' },
      'unsupported_media_type',
      'send the animal without a Content-Encoding',
    ],
    [
      { ...JSON_TYPE, 'transfer-encoding': 'gzip, chunked' },
      'invalid_request',
      'send the body with no other Transfer-Encoding than chunked',
    ],
  ])('rejects %j', (headers, code, message) => {
    expect(check(headers)).toThrow(expect.objectContaining({ code, message }));
  });

  test.each([
    { 'content-type': 'Application/JSON\t ; charset=utf-8' },
    { ...JSON_TYPE, 'content-encoding': ' identity\t,, IDENTITY' },
    { ...JSON_TYPE, 'transfer-encoding': 'Chunked' },
  ])('accepts %j', (headers) => {
    expect(check(headers)).not.toThrow();
  });

  test.each([
    { 'content-type': 'x application/json' },
    { 'content-type': 'application/json x' },
    { ...JSON_TYPE, 'content-encoding': 'xidentity' },
    { ...JSON_TYPE, 'content-encoding': 'identityx' },
  ])('rejects %j, which only has the name', (headers) => {
    expect(check(headers)).toThrow(expect.objectContaining({ code: 'unsupported_media_type' }));
  });
});

describe(parseJson, () => {
  test('reads integers as bigints', () => {
    expect(read('[1, 9007199254740993, 1.1]')).toEqual([1n, 9_007_199_254_740_993n, 1.1]);
  });

  test.each([
    ['', 'the body is empty: send a JSON object with name and categoryId'],
    ['\ufeff{}', 'the body must not begin with a byte order mark'],
    [
      '{"name":"Rex"',
      "the body cannot be read as JSON: Expected ',' or '}' after property value in JSON at position 13 (line 1 column 14)",
    ],
    ['['.repeat(30_000) + ']'.repeat(30_000), 'the body cannot be read as JSON: JSON is nested too deeply'],
    [Buffer.from([0x22, 0xff, 0x22]), 'the body must be encoded in UTF-8'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'the body must be encoded in UTF-8'],
  ])('rejects %j, which is not JSON in UTF-8', (body, message) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'invalid_request', message }));
  });
});
