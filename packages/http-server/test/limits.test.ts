import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Rejection, readBody } from '../src/index.ts';
import {
  exchange,
  get,
  open,
  openPaused,
  post,
  respondToBody,
  respondWith,
  sendUntilClosed,
  serve,
  TUNNEL,
} from './serving.ts';

const SHORT = { headersTimeout: 400, requestTimeout: 800, keepAliveTimeout: 300, connectionsCheckingInterval: 50 };

test('a header section that trickles in is rejected with 408', async () => {
  const { port } = await serve(undefined, SHORT);
  const client = open(port, 'GET / HTTP/1.1\r\n');
  await sendUntilClosed(client, 'X: y\r\n', 100);
  expect(client.statuses()).toEqual([408]);
});

test.each(['stops', 'trickles in'])('a body that %s fails with 408 in the listener', async (how) => {
  const { port } = await serve(respondToBody, SHORT);
  const client = open(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  await sendUntilClosed(client, how === 'trickles in' ? ' ' : '', 100);
  expect(client.statuses()).toEqual([408]);
});

test('a request after a body that was late is not served, though the rest of that body arrives', async () => {
  const { promise: isLate, resolve: notify } = Promise.withResolvers<void>();
  const { port, served } = await serve(
    async (request, response) => {
      const error = await readBody(request, 100).catch((thrown: Rejection) => thrown);
      notify();
      await sleep(50);
      response.writeHead((error as Rejection).status).end();
    },
    { ...SHORT, requestTimeout: 400 },
  );
  const { socket, received, closed } = open(port, post('/', 'hello').slice(0, -1));
  await isLate;
  socket.write(`o${get('/')}`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 408 .+\r\n(?:.+\r\n)*Connection: close\r\n/);
  expect(served()).toBe(1);
});

test('bodies of tiny chunks that never end fail with 408, though they are read in turns', async () => {
  const { port } = await serve(respondToBody, SHORT);
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const clients = Array.from({ length: 20 }, () => open(port, head));
  const piece = '1\r\nx\r\n'.repeat(2_000);
  const flood = setInterval(() => {
    for (const { socket } of clients) if (!socket.destroyed && socket.writableLength === 0) socket.write(piece);
  }, 1);
  onTestFinished(() => clearInterval(flood));
  await Promise.all(clients.map(({ closed }) => closed));
  for (const { statuses } of clients) expect(statuses()).toEqual([408]);
});

test('an idle connection is closed, before its first request or after it', async () => {
  const { port } = await serve(undefined, SHORT);
  const silent = open(port);
  const used = open(port, get('/'));
  await Promise.all([silent.closed, used.closed]);
  expect(silent.statuses()).toEqual([408]);
  expect(used.statuses()).toEqual([200]);
});

test.each([
  ['', ''],
  [' and asks for a tunnel after them', TUNNEL],
])('closes the connection of a client that does not read its responses%s', async (_what, last) => {
  const { port } = await serve(respondWith('x'.repeat(1_000_000)), {
    inactivityTimeout: 400,
  });
  const client = openPaused(port, get('/').repeat(20) + last);
  await sleep(1_500);
  // A socket that does not read learns only by writing that it is closed.
  await sendUntilClosed(client, 'x', 50);
  expect(client.socket.bytesRead).toBeLessThan(19_000_000);
});

test('closes the connection of a client that sends a body without end and does not read the response', async () => {
  const { port } = await serve(respondWith('x'.repeat(20_000_000)), {
    ...SHORT,
    inactivityTimeout: 400,
  });
  const client = openPaused(port, 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  await sendUntilClosed(client, '1\r\nx\r\n', 50);
  expect(client.socket.bytesRead).toBeLessThan(19_000_000);
});

test('drops connections above the limit, until another has been closed', async () => {
  const { port, drops } = await serve(undefined, {}, { maxConnections: 2 });
  const [first, second] = [open(port, get('/')), open(port, get('/'))];
  for (const { statuses } of [first, second]) await expect.poll(statuses).toEqual([200]);
  const third = await exchange(port, get('/'));
  expect(third.received()).toBe('');
  expect(drops).toEqual(['connections']);
  first.socket.destroy();
  await first.closed;
  await expect
    .poll(async () => {
      const fourth = await exchange(port, get('/', 'Connection: close\r\n'));
      return fourth.statuses();
    })
    .toEqual([200]);
});
