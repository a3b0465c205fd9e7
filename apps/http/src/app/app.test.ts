import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { type AppOptions, createApp } from './app.ts';
import { createExchange } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import type { RequestRecord } from './record.ts';

// The application as a library: its program serves it on another server, and adds routes of its own.
test('serves requests of a server that knows nothing of it', async () => {
  const authenticate = async () => ({ id: 'key', holder: 'holder' });
  const app = createApp({ catalogue: createCatalogue(createMemoryStorage().pets), authenticate });
  const headers = { authorization: 'Bearer key', 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' };
  // As @hono/node-server, with requests and responses of Node.js.
  const environment = { incoming: {}, outgoing: {} };
  const response = await app.request('/v1/pets', init, environment);
  expect([response.status, await response.json()]).toEqual([201, { id: 1, name: 'Rex', categoryId: 1 }]);
});

/** An exchange that records requests. */
function createRecorder(trustedProxies?: number) {
  const records: RequestRecord[] = [];
  const exchange = createExchange([(record) => records.push(record)], trustedProxies);
  return { records, exchange, app: createApp({ exchange } as AppOptions) };
}

test('responds with 500 without its text to an error of a route that a program adds, and records it', async () => {
  const { records, exchange, app } = createRecorder();
  const error = new Error('the password is s3cret');
  app.get('/own', () => {
    throw error;
  });
  const response = await app.request('/own', { headers: { 'x-request-id': 'mine' } });
  expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
    500,
    { 'x-request-id': 'mine', 'cache-control': 'no-store', 'content-type': 'application/json' },
  ]);
  const message = expect.not.stringContaining('s3cret');
  expect(await response.json()).toEqual({ code: 'internal_error', message, status: 500 });
  expect(records).toMatchObject([{ id: 'mine', method: 'GET', error }]);
  expect(exchange.inFlight()).toBe(0);
});

test.each([
  ['of a connection', 1, '::ffff:203.0.113.9', undefined],
  ['of a connection, not a forged one,', 0, '203.0.113.9', '198.51.100.1'],
  ['of a proxy', 1, '127.0.0.1', '::ffff:203.0.113.9'],
])('records an address %s without the prefix of IPv6', async (_, trustedProxies, clientAddress, forwarded) => {
  const { records, app } = createRecorder(trustedProxies);
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined);
  await app.request('/livez', {}, { serverRequest: { clientAddress, header } as Incoming });
  expect(records).toMatchObject([{ client: '203.0.113.9' }]);
});
