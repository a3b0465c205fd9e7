import { describe, expect } from 'vitest';
import { AUTHORIZATION, CLOSE, errorLike, JSON_TYPE, length, request, statusesIn, test } from './service.ts';

const REX = '{"name":"Rex","categoryId":7}';

describe('the body of createPet', () => {
  test.for([
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="utf-8";x=y', 201],
    ['application/json\t;charset=utf-8', 201],
    ['text/plain', 415],
    ['application/jsonp', 415],
    ['application/json x', 415],
    ['x application/json', 415],
    ['application/merge-patch+json', 415],
    ['', 415],
    [undefined, 415],
  ] as const)('with the type %j gets %d', async ([type, status], { service: { call } }) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const reply = await call('POST', '/v1/pets', { headers, body: REX });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.json).toEqual(errorLike('unsupported_media_type', 415, /as Content-Type/));
  });

  const chunked = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
  const twoKeys = (second: string) => `Idempotency-Key: k-1\r\nidempotency-key: ${second}\r\n${length(REX.length)}`;

  test.for([
    ['a second Content-Type', JSON_TYPE + length(29), REX, 415, /Content-Type/],
    ['another Transfer-Encoding', 'Transfer-Encoding: gzip, chunked\r\n', chunked, 400, /than chunked/],
    ['chunks', 'Transfer-Encoding: Chunked\r\n', chunked, 201, /Rex/],
    ['no length', '', '', 400, /body is empty/],
    ['the same Idempotency-Key twice', twoKeys('k-1'), REX, 400, /must be given once, was given 2 times/],
    ['two Idempotency-Keys', twoKeys('k-2'), REX, 400, /must be given once, was given 2 times/],
    ['an empty Idempotency-Key, too', twoKeys(''), REX, 400, /must be given once, was given 2 times/],
  ] as const)('with %s gets its status', async ([, fields, body, status, text], { service: { raw } }) => {
    const received = await raw(request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + CLOSE + fields, body));
    expect([statusesIn(received), received]).toEqual([[status], expect.stringMatching(text)]);
  });

  test('is accepted with 64 KiB, and rejected with one byte more, in chunks too', async ({ app, service }) => {
    for (const { add, call } of [app, service]) {
      for (const transfer of [{}, { 'transfer-encoding': 'chunked' }]) {
        expect((await add(REX.padEnd(65_536), transfer)).status).toBe(201);
        const { json } = await add(REX.padEnd(65_537), transfer);
        expect(json).toEqual(errorLike('payload_too_large', 413, /at most 65536 bytes/));
      }
      expect((await call('GET', '/v1/pets')).json).toHaveLength(2);
    }
  });
});
