import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startListenerProcess } from './processes.ts';
import { exchange, get, open } from './serving.ts';

describe('requests that are sent without waiting for responses', () => {
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
