import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import type { Listener } from '../src/server/server.ts';
import { openSocket, request, startBareServer, startWaitingServer, untilClosed } from './service.ts';

test('closes a connection whose response had begun before it, when the response ends', async () => {
  const { port, stop, arrived } = await startWaitingServer();
  const socket = openSocket(port);
  socket.write(request('GET /'));
  const [, response] = await arrived;
  response.write('begun');
  await once(socket, 'data');
  // Node itself would close it after 65 seconds.
  const stopping = stop({ grace: 0, deadline: 30_000 });
  response.end();
  expect(await stopping).toBe(0);
});

test('lets a client read a response that it has read half of, and accepts no other connection meanwhile', async () => {
  const { port, stop, arrived } = await startWaitingServer();
  const socket = openSocket(port).pause();
  socket.write(request('GET /'));
  const [, response] = await arrived;
  response.end(`${'x'.repeat(50_000_000)}the end`);
  const stopping = stop({ grace: 0, deadline: 30_000 });
  await once(openSocket(port), 'close');
  expect((await untilClosed(socket.resume())).endsWith('the end')).toBe(true);
  expect(await stopping).toBe(0);
});

test('closes connections at the deadline, and counts those whose clients have not received all', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { port, stop } = await startBareServer(({ url }, response) => {
    response.end('x'.repeat(url === '/idle' ? 1 : 50_000_000));
    if (url !== '/idle') begin();
  });
  const [slow, idle] = [openSocket(port).pause(), openSocket(port)];
  idle.write(request('GET /idle'));
  await once(idle, 'data');
  slow.write(request('GET /'));
  await begun;
  expect(await stop({ grace: 0, deadline: 500 })).toBe(1);
});

test('serves the last request of a connection, and none that comes behind it', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
  const listener = vi.fn<Listener>(({ url }, response) => void (url === '/last' ? arrive(response) : response.end()));
  const { port, stop } = await startBareServer(listener);
  const socket = openSocket(port);
  const received = untilClosed(socket);
  socket.write(request('GET /last'));
  const response = await arrived;
  const stopping = stop({ grace: 0, deadline: 30_000 });
  socket.write(request('GET /').repeat(40));
  // The server has read these.
  await expect.poll(() => response.req.socket.bytesRead === socket.bytesWritten).toBe(true);
  response.end('served');
  expect(await received).toMatch(/^HTTP\/1.1 200 .*\r\nconnection: close\r\n.*served$/s);
  expect(await stopping).toBe(0);
  expect(listener).toHaveBeenCalledTimes(1);
});

// Browsers open connections ahead of requests. Node itself would close it after 35 seconds.
test('closes a connection that has sent nothing', async () => {
  const { port, stop } = await startBareServer((_, response) => response.end('served'));
  const silent = openSocket(port);
  await once(silent, 'connect');
  // The server has accepted it when it responds to another connection.
  await fetch(`http://127.0.0.1:${port}`);
  const closed = once(silent, 'close');
  expect(await stop({ grace: 0, deadline: 30_000 })).toBe(0);
  await closed;
}, 20_000);

test('waits for a request whose header section has begun', async () => {
  const { port, stop } = await startBareServer((_, response) => response.end('served'));
  const socket = openSocket(port);
  const received = untilClosed(socket);
  socket.write('GET / HTTP/1.1\r\nHost');
  await fetch(`http://127.0.0.1:${port}`);
  const stopping = stop({ grace: 0, deadline: 30_000 });
  socket.write(': x\r\n\r\n');
  expect(await received).toMatch(/^HTTP\/1.1 200 .*\r\nconnection: close\r\n.*served$/s);
  expect(await stopping).toBe(0);
}, 20_000);
