import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished } from 'vitest';
import { readConfiguration } from '../src/configuration.ts';
import { errorLike, freePort, KEY, OTHER_KEY, type Service, serve, startApp, startService, test } from './service.ts';
import { startProcess } from './service-process.ts';

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const rex = { name: 'Rex', categoryId: '9223372036854775807' };

const callOf = (name: string, given: object = {}, id = 1) => {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } };
};

/** The same in the revision that has no handshake, with its header fields. */
const modernCallOf = (name: string, given: object = {}) => {
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${prefix}clientCapabilities`]: {},
  };
  const headers = {
    ...ACCEPT,
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  };
  const { params, ...message } = callOf(name, given);
  return { headers, body: JSON.stringify({ ...message, params: { ...params, _meta } }) };
};

const cancellationOf = (requestId: number) => {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
};

/** Gives the empty objects of a text a member with 10,000 levels. */
const deepen = (body: string) => body.replaceAll('{}', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);

async function clientOf({ port }: Pick<Service, 'port'>, key = KEY) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
    return isError ? { error: (content as { text: string }[])[0]?.text } : structuredContent;
  };
  return { client, call };
}

describe('a client of MCP', () => {
  test('lists its tools, whose schemas are objects, and uses the catalogue', async ({ service }) => {
    const { client, call } = await clientOf(service);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema.type])).toEqual([
      ['list_pets', 'object'],
      ['create_pet', 'object'],
      ['get_pet', 'object'],
    ]);
    expect(await call('create_pet', rex)).toEqual({ id: '1', ...rex });
    expect(await call('list_pets')).toEqual({ pets: [{ id: '1', ...rex }] });
    expect(await call('get_pet', { id: '7' })).toEqual({ error: expect.stringContaining('no pet has the id 7') });
    expect((await service.call('GET', '/v1/pets')).text).toBe(
      '[{"id":1,"name":"Rex","categoryId":9223372036854775807}]',
    );
  });

  test('shares the idempotency keys of the holder of its API key', async ({ service }) => {
    const first = await service.add('{"name":"Rex","categoryId":9223372036854775807}', { 'idempotency-key': 'k' });
    const again = { ...rex, idempotencyKey: 'k' };
    expect(first.json).toMatchObject({ id: 1 });
    expect(await (await clientOf(service)).call('create_pet', again)).toMatchObject({ id: '1' });
    expect(await (await clientOf(service, OTHER_KEY)).call('create_pet', again)).toMatchObject({ id: '2' });
  });

  test('is rejected without a valid key', async ({ service }) => {
    await expect(clientOf(service, 'an-unknown-key-of-someone')).rejects.toThrow(/401|nauthorized|invalid API key/);
  });
});

describe('/mcp', () => {
  const modern = modernCallOf('list_pets', { limit: 1 });

  test.for([
    [401, 'unauthorized', { key: null }],
    [403, 'forbidden', { headers: { ...ACCEPT, origin: 'https://evil.example' } }],
    [415, 'unsupported_media_type', { headers: { 'content-type': 'text/plain' } }],
    [413, 'payload_too_large', { headers: ACCEPT, body: ' '.repeat(70_000) }],
  ] as const)('responds with %d and an Error body before the protocol', async ([status, code, call], { sharedApp }) => {
    const reply = await sharedApp.call('POST', '/mcp', { headers: ACCEPT, body: '{}', ...call });
    expect([reply.status, reply.json]).toEqual([status, errorLike(code, status)]);
  });

  test.for(['GET', 'DELETE', 'PUT'])('responds to %s with 405 and Allow', async (method, { sharedApp: { call } }) => {
    const { status, headers } = await call(method, '/mcp');
    expect([status, headers['allow']]).toEqual([405, 'POST']);
  });

  test.for([
    ['malformed JSON', '{', ACCEPT, 400, -32700],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), ACCEPT, 400, -32700],
    ['no JSON-RPC', '{"a":1}', ACCEPT, 400, expect.any(Number)],
    ['a batch of 51', JSON.stringify(Array(51).fill(callOf('list_pets'))), ACCEPT, 400, -32600],
    ['two requests with one id', JSON.stringify([callOf('list_pets'), callOf('get_pet')]), ACCEPT, 400, -32600],
    ['10,000 levels', deepen(JSON.stringify(callOf('list_pets'))), ACCEPT, 400, -32600],
    ['10,000 levels of capabilities', deepen(modern.body), modern.headers, 400, -32600],
    ['a wrong Accept', JSON.stringify(callOf('list_pets')), { ...ACCEPT, accept: 'text/html' }, 406, -32000],
    ['a wrong version', JSON.stringify(callOf('list_pets')), { ...ACCEPT, 'mcp-protocol-version': '1' }, 400, -32000],
  ] as const)('responds to %s with an error of JSON-RPC', async ([, body, headers, status, code], { sharedApp }) => {
    const reply = await sharedApp.call('POST', '/mcp', { headers: { ...headers }, body });
    expect([reply.status, reply.json]).toEqual([
      status,
      expect.objectContaining({ jsonrpc: '2.0', error: expect.objectContaining({ code }) }),
    ]);
    expect(sharedApp.unexpectedErrors).toEqual([]);
  });

  test('responds to requests that their own batch cancels', async ({ sharedApp: { call } }) => {
    const batch = [cancellationOf(1), callOf('list_pets', {}, 1), callOf('list_pets', {}, 2), cancellationOf(2)];
    const reply = await call('POST', '/mcp', { headers: ACCEPT, body: JSON.stringify(batch) });
    expect([reply.status, reply.json]).toEqual([200, [expect.anything(), expect.anything()]]);
  });

  test('opens no stream, whatever a client subscribes to', async ({ sharedApp: { call } }) => {
    const { headers, body } = modernCallOf('list_pets');
    const reply = await call('POST', '/mcp', {
      headers: { ...headers, 'mcp-method': 'subscriptions/listen' },
      body: body.replace('tools/call', 'subscriptions/listen'),
    });
    expect([reply.status, reply.json]).toEqual([200, expect.objectContaining({ error: expect.anything() })]);
  });

  test.for([
    ['of 2025', { headers: ACCEPT, body: JSON.stringify(callOf('list_pets')) }],
    ['of 2026', modernCallOf('list_pets')],
  ] as const)('keeps nothing of a client %s that disconnects during a call', async ([, { headers, body }]) => {
    const memory = createMemoryStorage();
    const called = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const list: typeof memory.pets.list = async (...query) => {
      called.resolve();
      await released.promise;
      return memory.pets.list(...query);
    };
    const storage = { ...memory, pets: { ...memory.pets, list } };
    const { port, call, unexpectedErrors } = await serve({
      configuration: readConfiguration({ API_KEYS: KEY }),
      storage,
    });
    const request = sendRequest({
      ...{ port, host: '127.0.0.1', method: 'POST', path: '/mcp' },
      headers: { ...headers, authorization: `Bearer ${KEY}` },
    });
    request.on('error', () => {}).end(body);
    await called.promise;
    request.destroy();
    released.resolve();
    const inFlight = async () => /^http_requests_in_flight \d+$/m.exec((await call('GET', '/metrics')).text)?.[0];
    await expect.poll(inFlight).toBe('http_requests_in_flight 1');
    expect(unexpectedErrors).toEqual([]);
  });

  test('counts each call of a batch', async () => {
    const { call } = await startApp({ RATE_LIMIT: '4' });
    const batch = JSON.stringify([1, 2, 3].map((id) => callOf('list_pets', {}, id)));
    const replies = [];
    for (let count = 0; count < 2; count += 1)
      replies.push(await call('POST', '/mcp', { headers: ACCEPT, body: batch }));
    expect(replies[0]?.json).toHaveLength(3);
    expect([replies[1]?.status, replies[1]?.json]).toEqual([429, errorLike('too_many_requests', 429)]);
  });

  test('gives scripts of an origin in CORS_ORIGINS access, with the fields of the protocol', async () => {
    const { call } = await startApp({ CORS_ORIGINS: 'https://agents.example' });
    const origin = 'https://agents.example';
    const preflight = { origin, 'access-control-request-method': 'POST' };
    const { status, headers } = await call('OPTIONS', '/mcp', { key: null, headers: preflight });
    expect([status, headers['access-control-allow-headers']]).toEqual([
      204,
      expect.stringContaining('Mcp-Protocol-Version'),
    ]);
    const reply = await call('POST', '/mcp', {
      headers: { ...ACCEPT, origin },
      body: JSON.stringify(callOf('list_pets')),
    });
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([200, origin]);
  });

  test('serves 100 calls on 10 connections at once', async () => {
    const service = await startService();
    const clients = await Promise.all(Array.from({ length: 10 }, () => clientOf(service)));
    const calls = clients.flatMap(({ call }) => Array.from({ length: 10 }, () => call('create_pet', rex)));
    expect(new Set((await Promise.all(calls)).map((pet) => (pet as { id: string }).id)).size).toBe(100);
    expect(service.unexpectedErrors).toEqual([]);
  });
});

describe('the process', () => {
  test('logs each request to /mcp as one line, with its tools and the code of its first error', async () => {
    const running = startProcess({ API_KEYS: KEY });
    const { call } = await running.listens();
    const expected: object[] = [];
    async function send(body: unknown, line: object) {
      await call('POST', '/mcp', { headers: ACCEPT, body: JSON.stringify(body) });
      expected.push({ route: '/mcp', tool: undefined, error: undefined, ...line });
    }
    await send(callOf('create_pet', rex), { status: 200, tool: 'create_pet' });
    await send(callOf('get_pet', { id: '7' }), { status: 200, tool: 'get_pet', error: 'pet_not_found' });
    await send(callOf('get_pet', { id: 7 }), { status: 200, tool: 'get_pet', error: 'invalid_request' });
    await send(callOf('an unknown one'), { status: 200 });
    await send([callOf('list_pets', {}, 1), callOf('get_pet', {}, 2)], {
      ...{
        status: 200,
        tool: expect.stringMatching(/^(list_pets,get_pet|get_pet,list_pets)$/),
        error: 'invalid_request',
      },
    });
    await send(cancellationOf(1), { status: 202 });
    await send({}, { status: 400 });
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.logged('request').map(({ route, status, tool, error }) => ({ route, status, tool, error }))).toEqual(
      expected,
    );
    expect(running.output.err).toBe('');
  });

  test('responds with an error of the tool and one warning while the storage is unavailable', async () => {
    const url = `mongodb://127.0.0.1:${await freePort()}/animals`;
    const running = startProcess({ API_KEYS: KEY, STORAGE: 'mongodb', MONGODB_URL: url });
    const { call } = await running.listens();
    for (const name of ['list_pets', 'list_pets']) {
      const { status, json } = await call('POST', '/mcp', { headers: ACCEPT, body: JSON.stringify(callOf(name)) });
      expect([status, json]).toMatchObject([200, { result: { isError: true } }]);
    }
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    const warnings = running.logged(40).filter(({ msg }) => /storage failed/.test(String(msg)));
    expect(warnings).toHaveLength(1);
    expect(running.logged('request').map(({ tool, error }) => [tool, error])).toEqual([
      ['list_pets', 'service_unavailable'],
      ['list_pets', 'service_unavailable'],
    ]);
  });

  test('responds to a call in flight on SIGTERM, and closes its connection', async () => {
    const running = startProcess({ API_KEYS: KEY });
    const { port, call } = await running.listens();
    const headers = { ...ACCEPT, authorization: `Bearer ${KEY}`, connection: 'keep-alive' };
    const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', path: '/mcp', headers });
    const responded = once(request, 'response');
    const body = JSON.stringify(callOf('create_pet', rex));
    request.write(body.slice(0, 30));
    // Its connection is accepted after that of the call.
    expect((await call('GET', '/livez', { key: null })).status).toBe(200);
    running.process.kill('SIGTERM');
    await running.says(/"stopping"/);
    request.end(body.slice(30));
    const [response] = await responded;
    const chunks = await response.toArray();
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    expect(JSON.parse(chunks.join(''))).toMatchObject({ result: { structuredContent: { id: '1', ...rex } } });
    expect(await running.exit).toBe(0);
  });
});
