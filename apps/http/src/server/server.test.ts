import { once } from 'node:events';
import { Server, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CLOSE, length, openSocket, request, startBareServer, untilClosed } from '../../test/service.ts';
import { errorResponse } from '../app/errors.ts';
import type { NodeRequest } from './request.ts';
import type { Listener, ServerOptions } from './server.ts';

/** Serves nothing: a request waits for its test. */
async function startWaitingServer(options: Partial<ServerOptions> = {}) {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Parameters<Listener>>();
  const server = await startBareServer((...exchange) => arrive(exchange), options);
  return { ...server, arrived };
}

test('a stop closes a connection whose response had begun before it, when the response ends', async () => {
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

test('a stop lets a client read a response that it has not received yet', async () => {
  const { port, stop, arrived } = await startWaitingServer();
  const socket = openSocket(port).pause();
  socket.write(request('GET /'));
  const [, response] = await arrived;
  response.end(`${'x'.repeat(50_000_000)}the end`);
  const stopping = stop({ grace: 0, deadline: 30_000 });
  expect((await untilClosed(socket.resume())).endsWith('the end')).toBe(true);
  expect(await stopping).toBe(0);
});

test('a stop closes connections at the deadline, and counts those whose clients have not received all', async () => {
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

test('a stop serves the last request of a connection, and ignores those that come behind it', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
  const listener = vi.fn<Listener>(({ url }, response) => void (url === '/last' ? arrive(response) : response.end()));
  const { port, stop } = await startBareServer(listener);
  const socket = openSocket(port);
  const received = untilClosed(socket);
  socket.write(request('GET /last'));
  const response = await arrived;
  const stopping = stop({ grace: 1_000, deadline: 30_000 });
  socket.write(request('GET /').repeat(60));
  // The server has read these when it responds to another connection.
  await fetch(`http://127.0.0.1:${port}`);
  response.end('served');
  expect(await received).toMatch(/^HTTP\/1.1 200 .*\r\nconnection: close\r\n.*served/s);
  expect(await stopping).toBe(0);
  expect(listener).toHaveBeenCalledTimes(2);
});

test('a stop lets a rejection that waits behind a request be sent', async () => {
  const { port, stop, arrived } = await startWaitingServer({ reject: errorResponse });
  const socket = openSocket(port);
  const received = untilClosed(socket);
  socket.write(`${request('GET /')}not HTTP\r\n\r\n`);
  const [, response] = await arrived;
  await setImmediate();
  const stopping = stop({ grace: 0, deadline: 30_000 });
  response.end('served');
  expect(await received).toMatch(/^HTTP\/1.1 200 .*served.*HTTP\/1.1 400 /s);
  expect(await stopping).toBe(0);
});

// Node itself would close it after INACTIVITY_TIMEOUT.
test('a stop closes a connection that sends nothing, and serves one whose request is late', async () => {
  // As documented. That of Node.js 24 leaves connections open that have sent nothing.
  const close = vi.spyOn(Server.prototype, 'closeIdleConnections').mockImplementation(function (this: Server) {
    this.closeAllConnections();
  });
  onTestFinished(() => close.mockRestore());
  const { port, stop } = await startBareServer((_, response) => response.end('served'));
  const [silent, late] = [openSocket(port), openSocket(port)];
  await Promise.all([once(silent, 'connect'), once(late, 'connect')]);
  const closed = once(silent, 'close');
  // The server has accepted both when it responds to a third connection.
  await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } });
  const stopping = stop({ grace: 0, deadline: 600_000 });
  // Meanwhile the server has looked for idle connections.
  await sleep(300);
  late.write(request('GET /'));
  expect(await untilClosed(late)).toMatch(/^HTTP\/1.1 200 .*served$/s);
  expect(await stopping).toBe(0);
  await closed;
});

/** For tests that would wait for INACTIVITY_TIMEOUT otherwise. */
const SOON = { timeout: 30_000 };

/** For tests in which the time limit of discarding a body never comes. */
function stopTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const untilLost = (incoming: NodeRequest) => new Promise((lose) => incoming.on('error', () => {}).on('close', lose));

test("waits for no rest of a body that the parser can't read", SOON, async () => {
  const { port, arrived } = await startWaitingServer();
  const socket = openSocket(port);
  socket.write(request('POST /', `${CLOSE}Transfer-Encoding: chunked\r\n`));
  const [incoming, response] = await arrived;
  stopTimeouts();
  const discarded = incoming.afterBody(response, 'discarded');
  socket.write('not the length of a chunk');
  expect(await discarded).toBe('discarded');
});

test('a stop waits for no rest of a body after its deadline', SOON, async () => {
  const { port, stop, arrived } = await startWaitingServer();
  openSocket(port).write(request('POST /', CLOSE + length(9)));
  const [incoming, response] = await arrived;
  const lost = untilLost(incoming);
  expect(await stop({ grace: 0, deadline: 0 })).toBe(1);
  await lost;
  stopTimeouts();
  expect(await incoming.afterBody(response, 'discarded')).toBe('discarded');
});

test('rejects the body of a client that resets its connection before the body is read', SOON, async () => {
  const { port, arrived } = await startWaitingServer();
  const socket = openSocket(port);
  socket.write(request('POST /', length(9)));
  const [incoming] = await arrived;
  const lost = untilLost(incoming);
  socket.resetAndDestroy();
  await lost;
  await expect(incoming.readBody()).rejects.toThrow('the request ended before its body did');
});

test('keeps a connection of HTTP/1.0 open as long as the client asks for it (RFC 9112, section 9.3)', async () => {
  const { port } = await startBareServer((_, response) => response.setHeader('content-length', 6).end('served'));
  const socket = openSocket(port);
  socket.write('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n');
  const fields = (await untilClosed(socket)).match(/^connection: .+$/gim);
  expect(fields).toEqual(['Connection: keep-alive', 'connection: close']);
});

test('listens at the addresses of IPv4 with the host ::', async () => {
  const { port } = await startBareServer((_, response) => response.end('served'), { host: '::' });
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
});
