import { describe, expect } from 'vitest';
import { errorLike, KEY, OTHER_KEY, startService, test } from './service.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const REX = '{"name":"Rex","categoryId":7}';

describe('createPet', () => {
  test('returns 201 with the id and the Location of the pet', async ({ app: { add, call } }) => {
    const reply = await add('{"name":"Rex","categoryId":9223372036854775807,"status":"available"}');
    expect(reply.status).toBe(201);
    expect(reply.headers).toMatchObject({ 'content-type': 'application/json', location: '/v1/pets/1' });
    expect(reply.text).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"available"}');
    expect((await call('GET', '/v1/pets/1')).text).toBe(reply.text);
    expect((await call('GET', '/v1/pets')).text).toBe(`[${reply.text}]`);
  });

  // exact-json tests the forms of numbers, the domain the limits.
  test('returns an integer in another form than it was sent', async ({ app: { add, call } }) => {
    const { text, headers } = await add('{"name":"Rex","categoryId":-92233720368547758.08e2}');
    // There is no status if none was sent.
    expect(text).toMatch(/^{"id":\d+,"name":"Rex","categoryId":-9223372036854775808}$/);
    expect((await call('GET', String(headers.location))).text).toBe(text);
  });

  test.for([
    ['9223372036854775808', '9223372036854775808'],
    ['a number out of range', '9'.repeat(60_000)],
  ] as const)('rejects a categoryId, quoted as %s', async ([quoted, sent], { app: { add } }) => {
    const message = `categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was ${quoted}`;
    const { json } = await add(`{"name":"Rex","categoryId":${sent}}`);
    expect(json).toEqual({ code: 'invalid_request', message, status: 400 });
  });

  test.for([
    [
      '{"status":"lost"}',
      'name is required; categoryId is required; status must be one of available, pending, sold, was "lost"',
    ],
    ['{"name":7,"categoryId":7}', 'name must be a string, was 7'],
  ] as const)('rejects %s and names all violations', async ([body, message], { app: { add } }) => {
    expect((await add(body)).json).toEqual({ code: 'invalid_request', message, status: 400 });
  });

  test.for([...['x', ' Rex ', '🐕'.repeat(200), 'é', 'e\u0301', '"\\\u0001\u2028</script>', '\ufffd', '__proto__']])(
    'keeps the name %j as it was sent',
    async (name, { app: { add, call } }) => {
      const { json, headers } = await add({ name, categoryId: 1 });
      expect(json).toMatchObject({ name });
      expect((await call('GET', String(headers.location))).json).toEqual(json);
    },
  );

  test('ignores unknown members, an id among them', async ({ app: { add } }) => {
    const deep = '['.repeat(500) + ']'.repeat(500);
    const reply = await add(`{"id":99,"__proto__":{"status":"sold"},"x":${deep},"name":"Rex","categoryId":7}`);
    expect(reply.text).toBe('{"id":1,"name":"Rex","categoryId":7}');
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
  ] as const)('with the Content-Encoding %j gets %d', async ([coding, status], { service: { add } }) => {
    const reply = await add(REX, { 'content-encoding': coding });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.text).toContain('without a Content-Encoding');
  });

  const chunked = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;

  test.for([
    ['Content-Type: application/json\r\nContent-Length: 29\r\n', 415, REX],
    ['Transfer-Encoding: gzip, chunked\r\n', 400, chunked],
    ['Transfer-Encoding: Chunked\r\n', 201, chunked],
    // The body is rejected before it is sent.
    ['Content-Length: 65537\r\n', 413, ''],
  ] as const)('with the further fields %j gets %d', async ([field, status, body], { service: { raw } }) => {
    const fields = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n${field}`;
    const received = await raw(`POST /v1/pets HTTP/1.1\r\n${fields}Connection: close\r\n\r\n${body}`);
    expect(received.slice(9, 12)).toBe(String(status));
  });

  test('without a body and without its length gets 400', async ({ service: { raw } }) => {
    const fields = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
    expect(await raw(`POST /v1/pets HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`)).toMatch(/ 400 .*body is empty/s);
  });

  test('gets the first status of several errors', async () => {
    const { add, call } = await startService({ RATE_LIMIT: '4' });
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
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /UTF-8/],
    ['an array', `[${REX}]`, /must be an object .* was an array/],
    ['null', 'null', /must be an object .* was null/],
    ['deep nesting', '['.repeat(60_000), /cannot be read as JSON/],
    ['deep nesting that ends', '['.repeat(30_000) + ']'.repeat(30_000), /nested too deeply/],
  ])('is rejected if it is %s', async ([_what, body, message], { service: { call } }) => {
    const { json } = await call('POST', '/v1/pets', { headers: JSON_TYPE, body });
    expect(json).toEqual(errorLike('invalid_request', 400, message));
  });

  test('is accepted with 64 KiB, and rejected with one byte more, in chunks too', async ({
    service: { add, call },
  }) => {
    for (const length of [65_536, 65_537]) {
      const body = REX.slice(0, -1).padEnd(length - 1) + REX.slice(-1);
      for (const transfer of [{}, { 'transfer-encoding': 'chunked' }]) {
        const { status, json } = await add(body, transfer);
        if (length === 65_536) expect(status).toBe(201);
        else expect(json).toEqual(errorLike('payload_too_large', 413, /at most 65536 bytes/));
      }
    }
    expect((await call('GET', '/v1/pets')).json).toHaveLength(2);
  });
});

describe('the Idempotency-Key', () => {
  const named = (key: string) => ({ 'idempotency-key': key });

  test('yields the first response again, and one pet', async ({ app: { add, call } }) => {
    const first = await add(REX, named('k-1'));
    const again = await add('{ "categoryId": 7.0, "name": "\\u0052ex", "legs": 4 }', named('k-1'));
    expect([again.status, again.text, again.headers.location]).toEqual([201, first.text, first.headers.location]);
    const other = await add(REX);
    expect([first, again, other].map(({ headers }) => headers['idempotent-replayed'])).toEqual([
      undefined,
      'true',
      undefined,
    ]);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(2);
  });

  test('is rejected with 422 for another pet', async ({ app: { add, call } }) => {
    await add(REX, named('k-1'));
    const reply = await add('{"name":"Max","categoryId":7}', named('k-1'));
    expect(reply.json).toEqual(errorLike('idempotency_key_reused', 422, /use a new key/));
    expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  });

  test('belongs to the holder of the API key', async ({ app: { add, call } }) => {
    const first = await add(REX, named('k-1'));
    const headers = { ...JSON_TYPE, ...named('k-1') };
    const other = await call('POST', '/v1/pets', { key: OTHER_KEY, headers, body: '{"name":"Max","categoryId":7}' });
    expect(other.status).toBe(201);
    expect(other.headers.location).not.toBe(first.headers.location);
  });

  test('is not used up by a rejected request', async ({ app: { add } }) => {
    expect((await add('{"name":""}', named('k-1'))).status).toBe(400);
    expect((await add('nonsense', named('k-1'))).status).toBe(400);
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

  test('is rejected in two fields', async ({ service: { raw } }) => {
    for (const second of ['k-1', 'k-2', '']) {
      const fields = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
      const keys = `Idempotency-Key: k-1\r\nidempotency-key: ${second}\r\nContent-Length: ${REX.length}\r\n`;
      const reply = await raw(`POST /v1/pets HTTP/1.1\r\n${fields}${keys}\r\n${REX}`);
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
      expect(reply).toContain('Idempotency-Key must be given once, was given 2 times');
    }
  });
});
