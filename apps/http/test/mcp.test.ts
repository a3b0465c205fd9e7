import { request as sendRequest } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished } from 'vitest';
import { ACCEPT, callOf, modernCallOf, rex, sending } from './mcp-messages.ts';
import { KEY, metric, OTHER_KEY, type Service, startService, test, waitingStorage } from './service.ts';

async function clientOf({ port }: Service, key = KEY) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return async (name: string, given: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: given })).structuredContent;
}

// The package mcp-tools tests the tools.
test('serves a client of MCP, which shares the idempotency keys of the holder of its API key', async ({ service }) => {
  const first = await service.add('{"name":"Rex","categoryId":9223372036854775807}', { 'idempotency-key': 'k' });
  expect(first.json).toMatchObject({ id: 1 });
  const again = { ...rex, idempotencyKey: 'k' };
  const [call, callOfOther] = [await clientOf(service), await clientOf(service, OTHER_KEY)];
  expect(await call('create_pet', again)).toEqual({ id: '1', ...rex });
  expect(await callOfOther('create_pet', again)).toEqual({ id: '2', ...rex });
  expect(await call('list_pets')).toEqual({ pets: ['1', '2'].map((id) => ({ id, ...rex })) });
});

describe('/mcp', () => {
  const modern = modernCallOf('list_pets', { limit: 1 });

  test.for([
    ['of 2025', sending(callOf('list_pets'))],
    ['of 2026', modern],
  ] as const)('keeps nothing of a client %s that disconnects during a call', async ([, { headers, body }]) => {
    const { storage, called, release } = waitingStorage();
    const service = await startService({}, { storage });
    const request = sendRequest({
      ...{ port: service.port, host: '127.0.0.1', method: 'POST', path: '/mcp' },
      headers: { ...headers, authorization: `Bearer ${KEY}` },
    });
    request.on('error', () => {}).end(body);
    await called;
    request.destroy();
    release();
    await expect.poll(() => metric(service, 'http_requests_in_flight')).toBe(1);
    expect(service.unexpectedErrors).toEqual([]);
  });

  test('serves a page of its own origin over a socket', async ({ service: { port, call } }) => {
    const host = `127.0.0.1:${port}`;
    for (const [origin, status] of [
      [`http://${host}`, 200],
      [`http://127.0.0.1:${port + 1}`, 403],
    ] as const) {
      const headers = { ...ACCEPT, host, origin };
      expect((await call('POST', '/mcp', { ...sending(callOf('list_pets')), headers })).status).toBe(status);
    }
  });
});
