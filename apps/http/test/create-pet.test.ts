import { describe, expect } from 'vitest';
import { AUTHORIZATION, CLOSE, errorLike, JSON_TYPE, length, request, startApp, statusesIn, test } from './service.ts';

const TYPE = { 'content-type': 'application/json' };
const REX = '{"name":"Rex","categoryId":7}';

describe('createPet', () => {
  // exact-json tests the forms of numbers, the domain the limits and which members are ignored.
  test('returns 201 with the id and the Location of the pet, whose status may be absent', async ({ app }) => {
    const pets: string[] = [];
    for (const [sent, returned] of [
      ['9223372036854775807,"status":"available"', '9223372036854775807,"status":"available"'],
      ['-92233720368547758.08e2,"id":99', '-9223372036854775808'],
    ]) {
      const id = pets.length + 1;
      const reply = await app.add(`{"name":"Rex","categoryId":${sent}}`);
      expect([reply.status, reply.text]).toEqual([201, `{"id":${id},"name":"Rex","categoryId":${returned}}`]);
      expect(reply.headers).toMatchObject({ 'content-type': 'application/json', location: `/v1/pets/${id}` });
      expect((await app.call('GET', `/v1/pets/${id}`)).text).toBe(reply.text);
      pets.push(reply.text);
    }
    expect((await app.call('GET', '/v1/pets')).text).toBe(`[${pets.join()}]`);
  });

  test('names all violations', async ({ app: { add } }) => {
    const message =
      'name is required; categoryId is required; status must be one of available, pending, sold, was "lost"';
    expect((await add('{"status":"lost"}')).json).toEqual({ code: 'invalid_request', message, status: 400 });
  });
});

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

  test.for([
    ['identity', 201],
    ['', 201],
    [',\t Identity ,', 201],
    ['gzip', 415],
    [', gzip', 415],
    ['xidentity', 415],
    ['identityx', 415],
    ['\u00a0identity', 415],
    ['identity\u00a0', 415],
  ] as const)('with the Content-Encoding %j gets %d', async ([coding, status], { app: { add } }) => {
    const reply = await add(REX, { 'content-encoding': coding });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.text).toContain('without a Content-Encoding');
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

  test('gets the first status of several errors', async () => {
    const { add, call } = startApp({ RATE_LIMIT: '4' });
    const used = { 'idempotency-key': 'used' };
    await add(REX, used);
    const long = ' '.repeat(70_000);
    const replies = [
      await add('{"name":"Rex"}', used),
      await add(long, { 'idempotency-key': '' }),
      await call('POST', '/v1/pets', { body: long }),
      await call('POST', '/v1/pets'),
      await call('POST', '/v1/pets', { key: null }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 413, 415, 429, 401]);
  });

  test.for<[string, string | Buffer, RegExp]>([
    ['nothing', '', /is empty/],
    ['half of it', '{"name":"Rex"', /cannot be read as JSON: Expected/],
    ['a byte order mark', `\ufeff${REX}`, /byte order mark/],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
    ['an array', `[${REX}]`, /must be an object .* was an array/],
    ['deep nesting that ends', '['.repeat(30_000) + ']'.repeat(30_000), /nested too deeply/],
  ])('is rejected if it is %s', async ([_what, body, message], { app: { call } }) => {
    const { json } = await call('POST', '/v1/pets', { headers: TYPE, body });
    expect(json).toEqual(errorLike('invalid_request', 400, message));
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

// Keys of other holders are tested beside MCP.
describe('the Idempotency-Key', () => {
  const named = (key: string) => ({ 'idempotency-key': key });

  test('yields the first response again, and one pet', async ({ app: { add, call } }) => {
    const first = await add(REX, named('k-1'));
    const again = await add('{ "categoryId": 7.0, "name": "\\u0052ex", "legs": 4 }', named('k-1'));
    expect([again.status, again.text, again.headers.location]).toEqual([201, first.text, first.headers.location]);
    const other = await add(REX);
    const replayed = [first, again, other].map(({ headers }) => headers['idempotent-replayed']);
    expect(replayed).toEqual([undefined, 'true', undefined]);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(2);
  });

  test('is not used up by a rejected request', async ({ app: { add } }) => {
    for (const body of ['{"name":""}', 'nonsense']) expect((await add(body, named('k-1'))).status).toBe(400);
    expect((await add(REX, named('k-1'))).status).toBe(201);
  });

  test.for(['!', '~'.repeat(255), '"k"', 'a,b'])('can be %j', async (key, { app: { add } }) => {
    expect((await add(REX, named(key))).status).toBe(201);
  });

  test.for(['', 'a b', 'k'.repeat(256), '\u00e9'])('is rejected if it is %j', async (key, { app }) => {
    const { json } = await app.add(REX, named(key));
    expect(json).toEqual(errorLike('invalid_request', 400, /idempotency key must be 1 to 255/));
    expect((await app.call('GET', '/v1/pets')).json).toEqual([]);
  });
});
