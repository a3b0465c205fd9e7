import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished } from 'vitest';
import { errorLike, KEY, OTHER_KEY, type Service, startApp, startService, test } from './service.ts';

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
