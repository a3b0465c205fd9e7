import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Listener, type ServerOptions, startServer } from './server.ts';

const OPTIONS: ServerOptions = {
  ...{ host: '127.0.0.1', port: 0, maxConnections: 3 },
  onDrop() {},
  reject() {
    throw new Error('nothing is rejected');
  },
};

test('a stop closes a connection whose response had begun before it, when the response ends', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<ServerResponse>();
  const server = await startServer((_, response) => {
    response.write('begun');
    begin(response);
  }, OPTIONS);
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: animals\r\n\r\n');
  await once(socket, 'data');
  // Node itself would close it after 65 seconds.
  const stopping = server.stop({ grace: 0, deadline: 30_000 });
  (await begun).end();
  expect(await stopping).toBe(0);
});

test('a stop serves the last request of a connection, and ignores those that come behind it', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
  const listener = vi.fn<Listener>(({ url }, response) => void (url === '/last' ? arrive(response) : response.end()));
  const server = await startServer(listener, OPTIONS);
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write('GET /last HTTP/1.1\r\nHost: animals\r\n\r\n');
  const response = await arrived;
  const stopping = server.stop({ grace: 1_000, deadline: 30_000 });
  socket.write('GET / HTTP/1.1\r\nHost: animals\r\n\r\n'.repeat(60));
  // The server has read these when it responds to another connection.
  await fetch(`http://127.0.0.1:${server.address.port}`);
  response.end('served');
  let text = '';
  for await (const chunk of socket) text += chunk;
  expect(text).toMatch(/^HTTP\/1.1 200 .*\r\nconnection: close\r\n.*served/s);
  expect(await stopping).toBe(0);
  expect(listener).toHaveBeenCalledTimes(2);
});

// Node itself would close it after INACTIVITY_TIMEOUT.
test('a stop closes a connection that sends nothing, and serves one whose request is late', async () => {
  const server = await startServer((_, response) => response.end('served'), OPTIONS);
  const silent = connect(server.address.port, '127.0.0.1');
  const late = connect(server.address.port, '127.0.0.1');
  await Promise.all([once(silent, 'connect'), once(late, 'connect')]);
  const closed = once(silent, 'close');
  // The server has accepted both when it responds to a third connection.
  await fetch(`http://127.0.0.1:${server.address.port}`, { headers: { connection: 'close' } });
  const stopping = server.stop({ grace: 0, deadline: 600_000 });
  late.write('GET / HTTP/1.1\r\nHost: animals\r\n\r\n');
  expect(String(await once(late, 'data'))).toMatch(/^HTTP\/1.1 200 .*served$/s);
  expect(await stopping).toBe(0);
  await closed;
});

test('a stop waits for no rest of a body after its deadline', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: discarded, resolve: discard } = Promise.withResolvers<void>();
  const server = await startServer(async (request, response) => {
    arrive();
    await new Promise((close) => request.on('error', () => {}).on('close', close));
    // The time limit of discarding never comes.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    discard(request.afterBody(response, undefined));
  }, OPTIONS);
  const socket = connect(server.address.port, '127.0.0.1').on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nHost: animals\r\nConnection: close\r\nContent-Length: 9\r\n\r\n');
  await arrived;
  expect(await server.stop({ grace: 0, deadline: 0 })).toBe(1);
  await discarded;
});

test('rejects the body of a client that resets its connection before the body is read', {
  timeout: 30_000,
}, async () => {
  const { promise: body, resolve: read } = Promise.withResolvers<Promise<Buffer>>();
  const server = await startServer(async (request) => {
    socket.resetAndDestroy();
    await new Promise((close) => request.on('error', () => {}).on('close', close));
    read(request.readBody());
  }, OPTIONS);
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  const socket = connect(server.address.port, '127.0.0.1').on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nHost: animals\r\nContent-Length: 9\r\n\r\n');
  await expect(body).rejects.toThrow('the request ended before its body did');
});

test('keeps a connection of HTTP/1.0 open as long as the client asks for it (RFC 9112, section 9.3)', async () => {
  const server = await startServer((_, response) => response.setHeader('content-length', 6).end('served'), OPTIONS);
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  expect(text.match(/^connection: .+$/gim)).toEqual(['Connection: keep-alive', 'connection: close']);
});

test('listens at the addresses of IPv4 with the host ::', async () => {
  const server = await startServer((_, response) => response.end('served'), { ...OPTIONS, host: '::' });
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  expect((await fetch(`http://127.0.0.1:${server.address.port}`)).status).toBe(200);
});
