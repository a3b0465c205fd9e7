import { describe, expect } from 'vitest';
import { errorLike, startApp, test } from '../../../test/service.ts';

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
