import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startListenerProcess } from './processes.ts';
import { exchange, get, open, post, respondToBody, sendUntilClosed, serve } from './serving.ts';

const SHORT = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };

// tools/explorer shows that they are served one after the other, and that a timeout rejects none that waits.
describe('requests that are sent without waiting for responses', () => {
  test('all get responses in their order, however many they are', async () => {
    const { port, drops } = await serve();
    const paths = Array.from({ length: 25_000 }, (_, number) => `/${number}`);
    const client = open(port);
    client.socket.end(paths.map((path) => get(path)).join(''));
    await client.closed;
    expect(client.received().match(/(?<=\r\n\r\n)\/\d+/g)).toEqual(paths);
    expect(drops).toEqual([]);
  });

  test('all get responses if the client closes its side after them', async () => {
    const { port } = await serve(async ({ url }, response) => {
      await sleep(50);
      response.end(url);
    });
    const client = open(port);
    client.socket.end(get('/1') + get('/2') + post('/3', 'hello'));
    await client.closed;
    expect(client.statuses()).toEqual([200, 200, 200]);
    expect(client.errors).toEqual([]);
  });

  test.each([
    ['header section', get('/?300') + get('/?300'), 'GET / HTTP/1.1\r\nHost: x\r\nX: '],
    ['body', get('/?300'), 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n'],
    // Its header section ends after the first response, and then it waits for the second.
    ['header section and body', get('/?300') + get('/?300'), 'POST / HTTP/1.1\r\nHost: x\r\n'],
  ])('time out after they have waited: a %s that trickles in', async (what, before, partial) => {
    const { port } = await serve(respondToBody, SHORT);
    const client = open(port, before + partial);
    if (what.includes('and')) {
      await expect.poll(client.statuses, { interval: 5 }).toEqual([200]);
      client.socket.write('Content-Length: 1000\r\n\r\n');
    }
    await sendUntilClosed(client, 'x', 20);
    expect(client.statuses()).toEqual([...Array(before.split('GET').length - 1).fill(200), 408]);
  });

  test('have their own time limit after one that was late while it waited', async () => {
    const { port } = await serve(respondToBody, { ...SHORT, requestTimeout: 3_000 });
    const { socket, statuses, closed } = open(port, get('/?3500') + get('/') + get('/').slice(0, -2));
    await expect.poll(statuses, { interval: 5 }).toEqual([200, 200]);
    socket.write('\r\n');
    await sleep(1_800);
    // Takes 1,800 of its 3,000 ms, and is in flight 3,000 ms after the first response.
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nx');
    await sleep(1_800);
    socket.write('x');
    await closed;
    expect(statuses()).toEqual([200, 200, 200, 200]);
  });

  test('do not fill the memory with responses that are not read', async () => {
    // 40 clients ask for 5 GB.
    const { port, process } = await startListenerProcess('--max-old-space-size=100');
    for (let count = 0; count < 40; count += 1) open(port, get('/large').repeat(130)).socket.pause();
    await sleep(1_000);
    const client = await exchange(port, get('/', 'Connection: close\r\n'));
    expect(client.statuses()).toEqual([200]);
    expect(process.exitCode).toBeNull();
  });

  test('do not fill the memory while they wait: connections with the most of them are dropped', async () => {
    const { port, process } = await startListenerProcess('--max-old-space-size=150');
    const flooding = Array.from({ length: 30 }, () => open(port, get('/')));
    await Promise.all(flooding.map(({ statuses }) => expect.poll(statuses).toEqual([200])));
    // A client that waits for one response only is none of those with the most.
    const client = open(port, get('/slow?3000') + get('/', 'Connection: close\r\n'));
    // All of them have sent everything before any of it is read.
    open(port, get('/block?1000'));
    await sleep(200);
    for (const { socket } of flooding) socket.write(get('/slow?60000') + get('/').repeat(3_000));
    const dropped = () => flooding.filter(({ socket }) => socket.destroyed).length;
    await expect.poll(dropped).toBeGreaterThan(10);
    await client.closed;
    expect(client.statuses()).toEqual([200, 200]);
    expect(process.exitCode).toBeNull();
  });
});

test.each([
  ['is still being written', '/stream'],
  ['has been written', '/'],
])('discards requests after a last response that %s', async (_what, path) => {
  const { port, process } = await startListenerProcess('--max-old-space-size=100');
  for (let count = 0; count < 10; count += 1) {
    const { socket, statuses } = open(port, `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    socket.removeAllListeners('end');
    await expect.poll(statuses).toEqual([200]);
    socket.write(`0\r\n\r\n${get('/').repeat(100_000)}`);
  }
  await sleep(1_000);
  const client = await exchange(port, get('/', 'Connection: close\r\n'));
  expect(client.statuses()).toEqual([200]);
  expect(process.exitCode).toBeNull();
});

test('a body of tiny chunks takes no more memory than its bytes', async () => {
  const { port, process } = await startListenerProcess('--max-old-space-size=100');
  const head = 'POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const clients = Array.from({ length: 10 }, () => open(port, head + '1\r\nx\r\n'.repeat(100_000)));
  await Promise.all(
    clients.map(async ({ socket, closed, statuses }) => {
      await expect.poll(() => socket.writableLength).toBe(0);
      socket.write(`0\r\n\r\n${get('/', 'Connection: close\r\n')}`);
      await closed;
      expect(statuses()).toEqual([200, 200]);
    }),
  );
  expect(process.exitCode).toBeNull();
});
