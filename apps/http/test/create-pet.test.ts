import { request as sendRequest } from 'node:http';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorLike, KEY, OTHER_KEY, startService } from './service.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const REX = '{"name":"Rex","categoryId":7}';

describe('createPet', () => {
  test('returns 201 with the id and the Location of the pet', async () => {
    const { add, call } = await startService();
    const reply = await add('{"name":"Rex","categoryId":9223372036854775807,"status":"available"}');
    expect(reply.status).toBe(201);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.headers.location).toBe('/v1/pets/1');
    expect(reply.text).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"available"}');
    expect((await call('GET', '/v1/pets/1')).text).toBe(reply.text);
    expect((await call('GET', '/v1/pets')).text).toBe(`[${reply.text}]`);
  });

  test.each([
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993', '9007199254740993'],
    ['0', '0'],
    ['-0', '0'],
    ['1.0', '1'],
    ['1e3', '1000'],
    ['9.223372036854775807E+18', '9223372036854775807'],
    ['922337203685477580700e-2', '9223372036854775807'],
  ])('returns the categoryId %s as %s', async (sent, stored) => {
    const { add, call } = await startService();
    const { text, status } = await add(`{"name":"Rex","categoryId":${sent}}`);
    expect([status, text]).toEqual([201, `{"id":1,"name":"Rex","categoryId":${stored}}`]);
    expect((await call('GET', '/v1/pets')).text).toBe(`[${text}]`);
  });

  test.each([
    ['9223372036854775808', '9223372036854775808'],
    ['-9223372036854775809', '-9223372036854775809'],
    ['1.5', '1.5'],
    ['1e-1', '1e-1'],
    ['1e400', '1e400'],
    [`0.${'0'.repeat(400)}1`, `0.${'0'.repeat(38)}…`],
    ['"1"', '"1"'],
    ['null', 'null'],
    ['true', 'true'],
    ['[1]', 'an array'],
    ['{}', 'an object'],
    ['9223372036854775807.5', '9223372036854775807.5'],
    ['9'.repeat(60_000), `${'9'.repeat(40)}…`],
  ])('rejects the categoryId %.30s', async (sent, quote) => {
    const { add } = await startService();
    const reply = await add(`{"name":"Rex","categoryId":${sent}}`);
    expect([reply.status, reply.json]).toEqual([
      400,
      {
        code: 'invalid_request',
        message: `categoryId must be an integer from -9223372036854775808 to 9223372036854775807, was ${quote}`,
        status: 400,
      },
    ]);
  });

  test('leaves out a status that was absent', async () => {
    const { add, call } = await startService();
    expect((await add(REX)).text).toBe('{"id":1,"name":"Rex","categoryId":7}');
    expect((await call('GET', '/v1/pets/1')).text).toBe('{"id":1,"name":"Rex","categoryId":7}');
    expect((await call('GET', '/v1/pets')).text).toBe('[{"id":1,"name":"Rex","categoryId":7}]');
  });

  test.each(['null', '"Sold"', '""', '1', '["sold"]'])('rejects the status %s', async (status) => {
    const { add } = await startService();
    const reply = await add(`{"name":"Rex","categoryId":7,"status":${status}}`);
    expect(reply.json).toEqual(
      errorLike('invalid_request', 400, /^status must be one of available, pending, sold, was /),
    );
  });

  test('keeps any name of 1 to 200 code points as it was sent', async () => {
    const { add, call } = await startService();
    const names = ['x', ' Rex ', '🐕'.repeat(200), 'é', 'e\u0301', '"\\\u0000\u2028</script>', '\ufffd', '__proto__'];
    for (const name of names) {
      const { json, headers } = await add({ name, categoryId: 1 });
      expect(json).toMatchObject({ name });
      expect((await call('GET', String(headers.location))).json).toEqual(json);
    }
  });

  test.each([
    ['""', /^name must have a character that is not white space$/],
    ['" \\t\\u00a0\\ufeff"', /^name must have a character that is not white space$/],
    [JSON.stringify('🐕'.repeat(201)), /^name must be at most 200 characters/],
    ['"\\ud800"', /lone surrogate/],
    ['"a\\udc00b"', /lone surrogate/],
    ['null', /^name must be a string, was null$/],
    ['7', /^name must be a string, was a number$/],
  ])('rejects the name %.30s', async (name, message) => {
    const { add } = await startService();
    expect((await add(`{"name":${name},"categoryId":1}`)).json).toEqual(errorLike('invalid_request', 400, message));
  });

  test('names all violations at once', async () => {
    const { add } = await startService();
    expect((await add('{"status":"lost"}')).json).toEqual({
      code: 'invalid_request',
      message: 'name is required; categoryId is required; status must be one of available, pending, sold, was "lost"',
      status: 400,
    });
  });

  test('ignores unknown members, an id among them', async () => {
    const { add } = await startService();
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const reply = await add(`{"id":99,"__proto__":{"status":"sold"},"x":${deep},"name":"Rex","categoryId":7}`);
    expect(reply.text).toBe('{"id":1,"name":"Rex","categoryId":7}');
  });

  test('takes the last of two members with one name', async () => {
    const { add } = await startService();
    const reply = await add('{"name":"Max","categoryId":9007199254740993,"name":"Rex","categoryId":2.0}');
    expect(reply.text).toBe('{"id":1,"name":"Rex","categoryId":2}');
  });
});

describe('the body of createPet', () => {
  test.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="utf-8";x=y', 201],
    ['application/json ;charset=utf-8', 201],
    ['application/json\t;charset=utf-8', 201],
    ['text/plain', 415],
    ['application/jsonp', 415],
    ['application/merge-patch+json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['', 415],
    ['json', 415],
  ])('with the type %j gets %d', async (type, status) => {
    const { call } = await startService();
    const reply = await call('POST', '/v1/pets', { headers: { 'content-type': type }, body: REX });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.json).toEqual(errorLike('unsupported_media_type', 415));
  });

  test('without a type, or compressed, gets 415', async () => {
    const { call } = await startService();
    expect((await call('POST', '/v1/pets', { body: REX })).json).toEqual(errorLike('unsupported_media_type', 415));
    const reply = await call('POST', '/v1/pets', { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: REX });
    expect(reply.json).toEqual(errorLike('unsupported_media_type', 415));
    const list = await call('POST', '/v1/pets', { headers: { ...JSON_TYPE, 'content-encoding': ', gzip' }, body: REX });
    expect(list.json).toEqual(errorLike('unsupported_media_type', 415));
  });

  test('of two types gets 415, in another transfer coding with 400', async () => {
    const { raw } = await startService();
    const send = (fields: string, body: string) =>
      raw(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n${fields}Connection: close\r\n\r\n${body}`,
      );
    const type = 'Content-Type: application/json\r\n';
    expect(await send(`${type}${type}Content-Length: ${REX.length}\r\n`, REX)).toMatch(/^HTTP\/1\.1 415 /);
    const chunked = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
    expect(await send(`${type}Transfer-Encoding: gzip, chunked\r\n`, chunked)).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*Transfer-Encoding/,
    );
    expect(await send(`${type}Transfer-Encoding: Chunked\r\n`, chunked)).toMatch(/^HTTP\/1\.1 201 /);
  });

  test('with several errors gets the status that comes first', async () => {
    const { add, call } = await startService({ RATE_LIMIT: '4' });
    await add(REX, { 'idempotency-key': 'used' });
    const wrong = '{"name":"Rex"}';
    const long = ' '.repeat(70_000);
    const used = { 'idempotency-key': 'used' };
    const replies = [
      await add(wrong, used),
      await add(long, { 'idempotency-key': '' }),
      await call('POST', '/v1/pets', { body: long }),
      await call('POST', '/v1/pets'),
      await call('POST', '/v1/pets', { key: null }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 413, 415, 429, 401]);
  });

  test('is accepted with the Content-Encoding identity, or an empty one', async () => {
    const { add } = await startService();
    for (const coding of ['identity', 'Identity', '', ',\t identity ,']) {
      expect((await add(REX, { 'content-encoding': coding })).status).toBe(201);
    }
  });

  test.each([
    ['nothing', '', /is empty/],
    ['half of it', '{"name":"Rex"', /not valid JSON/],
    ['a byte order mark', `\ufeff${REX}`, /byte order mark/],
    ['no UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('","categoryId":1}')]), /UTF-8/],
    ['an array', `[${REX}]`, /must be an object .* was an array/],
    ['a string', '"Rex"', /must be an object .* was "Rex"/],
    ['null', 'null', /must be an object .* was null/],
    ['deep nesting', '['.repeat(60_000), /not valid JSON/],
    ['deep nesting that ends', '['.repeat(30_000) + ']'.repeat(30_000), /must be an object/],
  ])('is rejected if it is %s', async (_what, body, message) => {
    const { call } = await startService();
    const reply = await call('POST', '/v1/pets', { headers: JSON_TYPE, body });
    expect([reply.status, reply.json]).toEqual([400, errorLike('invalid_request', 400, message)]);
  });

  const padded = (bytes: number) => REX.slice(0, -1).padEnd(bytes - 1) + REX.slice(-1);

  test('is accepted with 64 KiB, and rejected with one byte more', async () => {
    const { add, call } = await startService();
    expect((await add(padded(65_536))).status).toBe(201);
    const reply = await add(padded(65_537));
    expect([reply.status, reply.json]).toEqual([413, errorLike('payload_too_large', 413, /at most 65536 bytes/)]);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  });

  test('is rejected before it is sent if its Content-Length is too large', async () => {
    const { raw } = await startService();
    const reply = await raw(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 65537\r\nConnection: close\r\n\r\n',
    );
    expect(reply).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('has the same limit in chunks', async () => {
    const { port } = await startService();
    const send = (parts: string[]) =>
      new Promise<number>((resolve, reject) => {
        const headers = { ...JSON_TYPE, authorization: `Bearer ${KEY}` };
        const request = sendRequest(
          { port, host: '127.0.0.1', method: 'POST', path: '/v1/pets', headers },
          (response) => {
            response.resume();
            resolve(response.statusCode as number);
          },
        );
        request.on('error', reject);
        for (const part of parts) request.write(part);
        request.end();
      });
    expect(await send([...REX])).toBe(201);
    expect(await send([padded(65_536)])).toBe(201);
    expect(await send([padded(65_536), ' '])).toBe(413);
    expect(await send(Array.from({ length: 200 }, () => ' '.repeat(10_000)))).toBe(413);
  });

  test('yields a pet or a client error, whatever its bytes', async () => {
    const { call, unexpectedErrors } = await startService();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
          fc.json().map((json) => Buffer.from(json)),
          fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0019.eE+-trufalsn ') }).map((text) => Buffer.from(text)),
        ),
        async (body) => {
          const { status } = await call('POST', '/v1/pets', { headers: JSON_TYPE, body });
          expect([201, 400]).toContain(status);
        },
      ),
      { numRuns: 300 },
    );
    expect(unexpectedErrors).toEqual([]);
  });
});

describe('the Idempotency-Key', () => {
  const named = (key: string) => ({ 'idempotency-key': key });

  test('yields the first response again, and one pet', async () => {
    const { add, call } = await startService();
    const first = await add(REX, named('k-1'));
    const again = await add('{ "categoryId": 7.0, "name": "\\u0052ex", "legs": 4 }', named('k-1'));
    expect([again.status, again.text, again.headers.location]).toEqual([201, first.text, first.headers.location]);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  });

  test('yields Idempotent-Replayed if it is repeated, and only then', async () => {
    const { add } = await startService();
    const replayed = async (headers = {}) => (await add(REX, headers)).headers['idempotent-replayed'];
    expect([await replayed(), await replayed(named('k-1'))]).toEqual([undefined, undefined]);
    expect([await replayed(named('k-1')), await replayed(named('k-1'))]).toEqual(['true', 'true']);
  });

  test('is rejected with 422 for another pet', async () => {
    const { add, call } = await startService();
    await add(REX, named('k-1'));
    const reply = await add('{"name":"Max","categoryId":7}', named('k-1'));
    expect([reply.status, reply.json]).toEqual([422, errorLike('idempotency_key_reused', 422, /use a new key/)]);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  });

  test('belongs to the holder of the API key', async () => {
    const { add, call } = await startService();
    const first = await add(REX, named('k-1'));
    const headers = { ...JSON_TYPE, ...named('k-1') };
    const other = await call('POST', '/v1/pets', { key: OTHER_KEY, headers, body: '{"name":"Max","categoryId":7}' });
    expect(other.status).toBe(201);
    expect(other.headers.location).not.toBe(first.headers.location);
  });

  test('is not used up by a rejected request', async () => {
    const { add } = await startService();
    expect((await add('{"name":""}', named('k-1'))).status).toBe(400);
    expect((await add('nonsense', named('k-1'))).status).toBe(400);
    expect((await add(REX, named('k-1'))).status).toBe(201);
  });

  test('creates one pet if it is sent thirty times at once', async () => {
    const { add, call } = await startService();
    const responses = await Promise.all(Array.from({ length: 30 }, () => add(REX, named('k-1'))));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  });

  test.each(['!', '~'.repeat(255), '"k"', 'a,b', '00000000-0000-4000-8000-000000000000'])(
    'can be %.40j',
    async (key) => {
      const { add } = await startService();
      expect((await add(REX, named(key))).status).toBe(201);
    },
  );

  test.each(['', 'a b', 'k'.repeat(256), '\u00e9', 'a\tb'])('is rejected if it is %.40j', async (key) => {
    const { add, call } = await startService();
    const reply = await add(REX, named(key));
    expect([reply.status, reply.json]).toEqual([
      400,
      errorLike('invalid_request', 400, /idempotency key must be 1 to 255/),
    ]);
    expect((await call('GET', '/v1/pets')).json).toEqual([]);
  });

  test('is rejected in two fields', async () => {
    const { raw } = await startService();
    for (const second of ['k-1', 'k-2', '']) {
      const reply = await raw(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n` +
          `Idempotency-Key: k-1\r\nidempotency-key: ${second}\r\nContent-Length: ${REX.length}\r\nConnection: close\r\n\r\n${REX}`,
      );
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
      expect(reply).toContain('Idempotency-Key must be given once, was given 2 times');
    }
  });
});
