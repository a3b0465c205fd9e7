import { DomainError } from '@animal-store/domain';
import { parse } from '@animal-store/exact-json';
import { describe, expect } from 'vitest';
import { ACCEPT, callOf, modernCallOf, rex, sending } from '../../test/mcp-messages.ts';
import { errorLike, failingStorage, startApp, test } from '../../test/service.ts';

const cancellationOf = (requestId: number) => {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
};

/** Gives the empty objects of a text a member with 10,000 levels. */
const deepen = (body: string) => body.replaceAll('{}', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);

describe('/mcp', () => {
  const modern = modernCallOf('list_pets', { limit: 1 });

  test.for([
    [401, 'unauthorized', { key: null }],
    [403, 'forbidden', { headers: { ...ACCEPT, origin: 'https://evil.example' } }],
    [415, 'unsupported_media_type', { headers: { 'content-type': 'text/plain' } }],
    [413, 'payload_too_large', { headers: ACCEPT, body: ' '.repeat(70_000) }],
  ] as const)('responds with %d and an Error body before the protocol', async ([status, code, call], { app }) => {
    const reply = await app.call('POST', '/mcp', { ...sending({}), ...call });
    expect([reply.status, reply.json]).toEqual([status, errorLike(code, status)]);
  });

  test.for(['GET', 'DELETE', 'PUT'])('responds to %s with 405 and Allow', async (method, { app: { call } }) => {
    expect(await call(method, '/mcp')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test.for([
    ['malformed JSON', { headers: ACCEPT, body: '{' }, -32700],
    ['bytes that are not UTF-8', { headers: ACCEPT, body: Buffer.from([0x22, 0xff, 0x22]) }, -32700],
    ['no JSON-RPC', sending({ a: 1 }), expect.any(Number)],
    ['a batch', sending([callOf('list_pets')]), -32600],
    ['10,000 levels', { headers: ACCEPT, body: deepen(JSON.stringify(callOf('list_pets'))) }, -32600],
    ['10,000 levels of capabilities', { ...modern, body: deepen(modern.body) }, -32600],
  ] as const)('responds to %s with 400 and an error of JSON-RPC', async ([, call, code], { app }) => {
    const { status, json } = await app.call('POST', '/mcp', call);
    expect([status, json]).toMatchObject([400, { jsonrpc: '2.0', error: { code } }]);
    expect(app.unexpectedErrors).toEqual([]);
  });

  test.for([
    ...['subscriptions/listen', 'resources/list', 'resources/subscribe', 'prompts/list', 'completion/complete'],
    ...['tasks/get', 'tasks/update', 'logging/setLevel', 'ping', 'initialize', 'x'],
  ])('has no method %s in the revision without a handshake', async (method, { app: { call } }) => {
    const reply = await call('POST', '/mcp', {
      headers: { ...modern.headers, 'mcp-method': method },
      body: modern.body.replace('tools/call', method),
    });
    const error = { code: -32601, message: 'Method not found' };
    expect([reply.status, reply.json]).toEqual([404, { jsonrpc: '2.0', id: 1, error }]);
  });

  test('serves a call without arguments', async ({ app: { call } }) => {
    const { json } = await call('POST', '/mcp', sending({ ...callOf('list_pets'), params: { name: 'list_pets' } }));
    expect(json).toMatchObject({ result: { structuredContent: { pets: [] } } });
  });

  test.for(['*/*', 'application/json', 'text/event-stream', 'text/html', ''])(
    'serves JSON to a client that accepts %j',
    async (accept, { app: { call } }) => {
      for (const { headers, body } of [sending(callOf('list_pets')), modern]) {
        const reply = await call('POST', '/mcp', { headers: { ...headers, accept }, body });
        expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
      }
    },
  );

  test.for([
    ...['9007199254740993', '-9223372036854775808', '123456789012345678901234567890', '0', '1.5', '1e3'],
    ...['"9007199254740993"', '"a \\"b\\" \\u00e9 \\ud800"', '""'],
  ])('gives each response, errors included, the id %s of its request', async (id, { app: { call } }) => {
    const served = [sending(callOf('list_pets')), sending(callOf('get_pet', { id: 'x' })), modern];
    const rejected = [
      sending({ ...callOf('list_pets'), method: 'x' }),
      { ...sending(callOf('list_pets')), headers: { ...ACCEPT, 'mcp-protocol-version': '1999-01-01' } },
      sending({ ...callOf('list_pets'), jsonrpc: '1.0' }),
      { ...modern, body: modern.body.replace('2026-07-28', '1999-01-01') },
      {
        headers: { ...modern.headers, 'mcp-method': 'subscriptions/listen' },
        body: modern.body.replace('tools/call', 'subscriptions/listen'),
      },
      { ...modern, headers: { ...modern.headers, 'mcp-name': 'get_pet' } },
    ];
    for (const [requests, member] of [
      [served, 'result'],
      [rejected, 'error'],
    ] as const) {
      for (const { headers, body } of requests) {
        const { text } = await call('POST', '/mcp', { headers, body: body.replace('"id":1', `"id":${id}`) });
        expect(parse(text)).toEqual({ jsonrpc: '2.0', id: parse(id), [member]: expect.anything() });
      }
    }
  });

  test.for([
    ['localhost:3000', 'http://localhost:3000', 200],
    ['LOCALHOST:80', 'http://localhost', 200],
    ['127.0.0.2:3000', 'http://127.0.0.2:3000', 200],
    ['[::1]:3000', 'http://[::1]:3000', 200],
    ['localhost:3000', 'http://localhost:3001', 403],
    ['localhost:3000', 'http://127.0.0.1:3000', 403],
    ['localhost:3000', 'null', 403],
    // DNS rebinding: the attacker's name has the address of this machine.
    ['evil.example:3000', 'http://evil.example:3000', 403],
    ['localhost.evil.example', 'http://localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 'http://127.0.0.1.evil.example', 403],
    ['animals.localhost', 'http://animals.localhost', 403],
  ] as const)('responds to Host %s and Origin %s with %d', async ([host, origin, status], { app: { call } }) => {
    const reply = await call('POST', '/mcp', {
      ...sending(callOf('list_pets')),
      headers: { ...ACCEPT, host, origin },
    });
    expect(reply.status).toBe(status);
  });

  test('counts for the rate limit, and says how many requests are left', async () => {
    const { call } = startApp({ RATE_LIMIT: '2' });
    const replies = [];
    for (let count = 0; count < 3; count += 1) replies.push(await call('POST', '/mcp', sending(callOf('list_pets'))));
    const left = replies.map(({ status, headers }) => [status, /r=(\d+)/.exec(headers['ratelimit'] as string)?.[1]]);
    expect(left).toEqual([
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ]);
  });

  test('gives scripts of an origin in CORS_ORIGINS access', async () => {
    const origin = 'https://agents.example';
    const { call } = startApp({ CORS_ORIGINS: origin });
    const reply = await call('POST', '/mcp', { ...sending(callOf('list_pets')), headers: { ...ACCEPT, origin } });
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([200, origin]);
  });

  test.for<[string, unknown, object]>([
    ['a call', callOf('create_pet', rex), { tool: 'create_pet' }],
    ['a pet that is not found', callOf('get_pet', { id: '7' }), { tool: 'get_pet', error: 'pet_not_found' }],
    ['a wrong argument', callOf('get_pet', { id: 'x' }), { tool: 'get_pet', error: 'invalid_request' }],
    ['an unknown tool', callOf('x'), {}],
    ['a notification', cancellationOf(1), { status: 202 }],
    ['no message', {}, { status: 400 }],
  ])('logs %s as one line, with its tool and the code of its error', async ([, message, line], { app }) => {
    await app.call('POST', '/mcp', sending(message));
    const lines = app.logged.map(({ msg, route, status, tool, error }) => ({ msg, route, status, tool, error }));
    expect(lines).toEqual([{ msg: 'request', route: '/mcp', status: 200, ...line }]);
  });

  test('responds with an error of the tool, and logs a warning, while the storage is unavailable', async () => {
    const { storage, failure } = failingStorage();
    const { call, logged } = startApp({}, { storage });
    failure.with = new DomainError('storage_unavailable', 'try again');
    const { status, json } = await call('POST', '/mcp', sending(callOf('list_pets')));
    expect([status, json]).toMatchObject([200, { result: { isError: true } }]);
    for (const line of [
      { level: 40, msg: 'the storage is unavailable: requests that need it are rejected with 503' },
      { level: 40, msg: 'requests are rejected with 503: the storage failed' },
      { tool: 'list_pets', error: 'service_unavailable' },
    ]) {
      await expect.poll(() => logged).toContainEqual(expect.objectContaining(line));
    }
  });
});
