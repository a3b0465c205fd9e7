import { expect, test } from 'vitest';
import { type AppOptions, createApp } from './app.ts';
import { createExchange, type RequestRecord } from './exchange.ts';

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
