import { startServer } from '@animal-store/http-server';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { createListener } from './listener.ts';
import type { Env } from './operation.ts';

test('responds with an Error body and the id under which it reports an error outside of all handlers', async () => {
  const error = new Error('secret');
  const reported: unknown[] = [];
  const app = new Hono<Env>({
    getPath() {
      throw error;
    },
  });
  const server = await startServer(
    createListener(app, (...report) => void reported.push(report)),
    { host: '127.0.0.1', port: 0, maxConnections: 10, renderRejection: () => ({ headers: {}, body: '' }) },
  );
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  const response = await fetch(`http://127.0.0.1:${server.address.port}/`);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ code: 'internal_error', status: 500 });
  expect(reported).toEqual([[error, response.headers.get('x-request-id')]]);
});
