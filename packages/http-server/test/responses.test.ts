import type { ServerResponse } from 'node:http';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type ServerOptions, startServer } from '../src/index.ts';
import { exchange, get, open, post, serve, TUNNEL } from './serving.ts';

test('a response names the time for which its connection stays open', async () => {
  const { port } = await serve(undefined, { keepAliveTimeout: 7_000 });
  const { received } = open(port, get('/'));
  await expect.poll(received).toMatch(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=7\r\n/);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['setHeader', (response) => response.setHeader('Connection', 'close')],
  ['an object', (response) => response.writeHead(200, { connection: 'close' })],
  ['an array', (response) => response.writeHead(200, ['Connection', 'Close'])],
])('a listener closes the connection with a Connection field in %s', async (_where, close) => {
  const { port, served } = await serve((_request, response) => {
    close(response);
    response.end('x');
  });
  const { received, statuses, errors } = await exchange(port, get('/') + post('/', 'hello'));
  expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n/i);
  expect(statuses()).toEqual([200]);
  expect(served()).toBe(1);
  expect(errors).toEqual([]);
});

test('a second head, which Node rejects, leaves the connection open for requests', async () => {
  let writeAgain: () => void = () => {};
  const { port, running } = await serve((_request, response) => {
    response.end();
    writeAgain = () => response.writeHead(500);
  });
  const { socket, statuses } = open(port, get('/'));
  await expect.poll(statuses).toEqual([200]);
  const stopped = running.stop({ grace: 0, deadline: 5_000 });
  expect(writeAgain).toThrow('Cannot write headers after they are sent to the client');
  socket.write(get('/'));
  await expect.poll(statuses).toEqual([200, 200]);
  expect(await stopped).toBe(0);
});

test('a listener is notified of the end of a response, also of the last one', async () => {
  let finished = 0;
  const { port } = await serve((_request, response) => {
    response.on('finish', () => {
      finished += 1;
    });
    response.end();
  });
  await exchange(port, get('/') + get('/', 'Connection: close\r\n'));
  expect(finished).toBe(2);
});

test.each([
  ['waits when', get('/').repeat(3), ''],
  ['comes after', get('/'), get('/').repeat(2)],
])('a request is not served if it %s the last response of its connection begins', async (_when, bytes, more) => {
  const { port, served } = await serve(async (_request, response) => {
    await turn();
    response.shouldKeepAlive = false;
    response.write('one,');
    await sleep(50);
    response.end('two');
  });
  const { socket, received, statuses, closed } = open(port, bytes);
  await expect.poll(received, { interval: 5 }).toContain('one,');
  socket.write(more);
  await closed;
  expect(statuses()).toEqual([200]);
  expect(received()).toMatch(/two\r\n0\r\n\r\n$/);
  expect(served()).toBe(1);
});

test.each([
  ['nothing', ''],
  ['CONNECT', TUNNEL],
])('a connection closes soon after its last response if its client sends %s and stays', async (_what, bytes) => {
  const { promise: isClosed, resolve: close } = Promise.withResolvers<void>();
  const { port } = await serve(
    async (request, response) => {
      request.socket.on('close', () => close());
      response.shouldKeepAlive = false;
      response.write('one,');
      await sleep(50);
      response.end('two');
    },
    { lingerTimeout: 50 },
  );
  const { socket, received } = open(port, get('/'));
  socket.removeAllListeners('end');
  await expect.poll(received, { interval: 5 }).toContain('one,');
  socket.write(bytes);
  const started = performance.now();
  await isClosed;
  // Much less than `requestTimeout`.
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('a listener that destroys the connection gets none of the requests that wait on it', async () => {
  const { port, served } = await serve((request, response) => {
    response.end('x', () => request.socket.destroy());
  });
  const { statuses } = await exchange(port, get('/').repeat(3));
  expect(statuses()).toEqual([200]);
  expect(served()).toBe(1);
});

test('a listener that destroys a request closes its connection', async () => {
  const { port } = await serve((request) => void request.destroy());
  const { received } = await exchange(port, post('/', 'hello').slice(0, -1));
  expect(received()).toBe('');
});

test('the last activity of a server is that of the last request', async () => {
  const { port, running } = await serve();
  const { socket, statuses } = open(port);
  await expect.poll(() => running.lastActivityAt).toBeGreaterThan(0);
  const connectedAt = running.lastActivityAt;
  socket.write(get('/'));
  await expect.poll(statuses).toEqual([200]);
  expect(running.lastActivityAt).toBeGreaterThan(connectedAt);
});

test('a server fails to start with the error of the system if its port is in use', async () => {
  const { port } = await serve();
  const options: ServerOptions = {
    ...{ host: '127.0.0.1', port, maxConnections: 1 },
    renderRejection: () => ({ headers: {}, body: '' }),
  };
  await expect(startServer(() => {}, options)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
