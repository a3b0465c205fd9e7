import { expect, test } from 'vitest';
import { type AppOptions, createApp } from './app.ts';
import { createExchange, type RequestRecord } from './exchange.ts';
import type { Incoming } from './incoming.ts';

// The application as a library: its program adds routes of its own.
test('responds with 500 without its text to an error of a route that a program adds, and records it', async () => {
  const records: RequestRecord[] = [];
  const exchange = createExchange([(record) => records.push(record)]);
  const app = createApp({ exchange } as AppOptions);
  const error = new Error('the password is s3cret');
  app.get('/own', () => {
    throw error;
  });
  const response = await app.request('/own', { headers: { 'x-request-id': 'mine' } });
  expect([response.status, Object.fromEntries(response.headers)]).toEqual([
    500,
    expect.objectContaining({
      'x-request-id': 'mine',
      'cache-control': 'no-store',
      'content-type': 'application/json',
    }),
  ]);
  expect(await response.json()).toEqual({
    code: 'internal_error',
    message: expect.not.stringContaining('s3cret'),
    status: 500,
  });
  expect(records).toMatchObject([{ id: 'mine', method: 'GET', error }]);
  expect(exchange.inFlight()).toBe(0);
});

test.each([
  ['of a connection', '::ffff:203.0.113.9', undefined],
  ['of a proxy', '127.0.0.1', '::ffff:203.0.113.9'],
])('records an address of IPv4 %s without the prefix of IPv6', async (_, clientAddress, forwarded) => {
  const records: RequestRecord[] = [];
  const app = createApp({ exchange: createExchange([(record) => records.push(record)], 1) } as AppOptions);
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined);
  await app.request('/livez', {}, { serverRequest: { clientAddress, header } as Incoming });
  expect(records).toMatchObject([{ client: '203.0.113.9' }]);
});
