import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '@animal-store/http-server';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createListener } from './listener.ts';
import type { Env } from './operation.ts';

/** Serves an application, and returns the port and the errors outside of its handlers. */
async function serve(app: Hono<Env>) {
  const reported: unknown[] = [];
  const server = await startServer(
    createListener(app, (...report) => void reported.push(report)),
    { host: '127.0.0.1', port: 0, maxConnections: 10, renderRejection: () => ({ headers: {}, body: '' }) },
  );
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  return { port: server.address.port, reported };
}

/** Sends the parts with a pause before each, reads nothing before the last one, and returns the response. */
function send(port: number, parts: readonly string[], pause = 0): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', async () => {
      for (const part of parts) {
        await sleep(pause);
        socket.write(part);
      }
      socket.setEncoding('latin1').on('data', (text) => {
        received += text;
      });
    });
    let received = '';
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

/** Responds with the method and the target as a handler sees them. */
const echo = () => new Hono<Env>().all('*', ({ req }) => new Response(`${req.method} ${req.url}`));

test('responds with an Error body and the id under which it reports an error outside of all handlers', async () => {
  const error = new Error('secret');
  const { port, reported } = await serve(
    new Hono<Env>({
      getPath() {
        throw error;
      },
    }),
  );
  const response = await fetch(`http://127.0.0.1:${port}/`);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ code: 'internal_error', status: 500 });
  expect(reported).toEqual([[error, response.headers.get('x-request-id')]]);
});

describe('a handler', () => {
  test.each([
    ['/v1/pets?limit=1', '/v1/pets?limit=1'],
    ['/', '/'],
    ['http://example.org/livez', '/livez'],
    ['HTTPS://EXAMPLE.ORG:443/livez?x=y', '/livez?x=y'],
    ['http://example.org', '/'],
    ['http://example.org?x', '/?x'],
    ['*', '/*'],
    ['ftp://example.org/livez', '/ftp://example.org/livez'],
    ['/v1\\pets', '/v1%5Cpets'],
    ['/\\', '/%5C'],
    ['/a|http://example.org/b', '/a%7Chttp://example.org/b'],
  ])('gets a request for %s as one for %s of any host', async (target, path) => {
    const { port } = await serve(echo());
    const response = await send(port, [`OPTIONS ${target} HTTP/1.1\r\nHost: [::1]:1\r\nConnection: close\r\n\r\n`]);
    expect(response.split('\r\n\r\n')[1]).toBe(`OPTIONS http://localhost${path}`);
  });

  test('gets a request without a Host field', async () => {
    const { port } = await serve(echo());
    const response = await send(port, ['GET /livez HTTP/1.0\r\n\r\n']);
    expect(response.split('\r\n\r\n')[1]).toBe('GET http://localhost/livez');
  });

  test('gets HEAD as GET, whose length the response has', async () => {
    const { port } = await serve(echo());
    const response = await fetch(`http://127.0.0.1:${port}/livez`, { method: 'HEAD' });
    expect(response.headers.get('content-length')).toBe(String('GET http://localhost/livez'.length));
    expect(await response.text()).toBe('');
  });
});

test('responds to a client that reads nothing before it has sent a body that nobody wants', async () => {
  const { port, reported } = await serve(echo());
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 800000\r\n\r\n';
  const response = await send(port, [head, ...Array<string>(4).fill('x'.repeat(200_000))], 250);
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
  expect(reported).toEqual([]);
});
