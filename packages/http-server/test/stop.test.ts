import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RunningServer } from '../src/index.ts';
import { startListenerProcess } from './processes.ts';
import {
  type Client,
  exchange,
  get,
  open,
  openPaused,
  post,
  respondWith,
  type Serving,
  sendUntilClosed,
  serve,
  TUNNEL,
} from './serving.ts';

const GRACE = { grace: 10_000, deadline: 5_000 };
const NO_GRACE = { grace: 0, deadline: 5_000 };

/** Stops a server, and returns the duration in milliseconds and the number of dropped connections. */
async function timeStop(server: Serving, times: Parameters<RunningServer['stop']>[0]) {
  const started = performance.now();
  const dropped = await server.stop(times);
  return { dropped, duration: performance.now() - started };
}

/** A client with a response and an open connection. */
async function openIdle(port: number): Promise<Client> {
  const client = open(port, get('/'));
  await expect.poll(client.statuses).toEqual([200]);
  return client;
}

/** Waits until a server has accepted a connection. */
async function untilAccepted({ running }: Serving): Promise<void> {
  await expect.poll(() => running.lastActivityAt).toBeGreaterThan(0);
}

// tools/explorer shows that a stop loses no request that waits, and ends at its deadline.
describe('a stop', () => {
  test('lets a client read large responses to their end', async () => {
    const server = await serve(respondWith('x'.repeat(3_000_000)));
    const client = openPaused(server.port, get('/').repeat(5));
    await expect.poll(server.served).toBeGreaterThan(0);
    await sleep(300);
    const stopped = server.stop(NO_GRACE);
    await sleep(300);
    client.socket.resume();
    expect(await stopped).toBe(0);
    await client.closed;
    expect(client.received().length).toBeGreaterThan(15_000_000);
  });

  test('serves no request after the last response of a connection', async () => {
    const server = await serve(undefined, { lingerTimeout: 60_000 });
    await openIdle(server.port);
    const stopped = server.stop(GRACE);
    const client = await exchange(server.port, post('/', 'hello').repeat(10_000));
    expect(await stopped).toBe(0);
    expect(client.statuses()).toEqual([200]);
    expect(server.served()).toBe(2);
  });

  test.each([
    ['small', 200],
    ['large', 50_000],
  ])('loses no %s response of a client that continues to send without reading', async (_size, length) => {
    const server = await serve(respondWith('x'.repeat(length)));
    const client = openPaused(server.port);
    const closed = sendUntilClosed(client, post('/', 'hello').repeat(500), 10);
    await expect.poll(server.served).toBeGreaterThan(0);
    await sleep(500);
    const stopped = server.stop({ grace: 0, deadline: 20_000 });
    await sleep(1_000);
    client.socket.resume();
    await closed;
    expect(await stopped).toBe(0);
    expect(server.served()).toBeGreaterThan(100);
    expect(client.statuses()).toHaveLength(server.served());
  });

  test('loses no response of a client that has sent more requests with its last one, and reads late', async () => {
    const server = await serve(respondWith('x'.repeat(2_000_000)), { lingerTimeout: 800 });
    const client = openPaused(server.port);
    await untilAccepted(server);
    const stopped = server.stop(GRACE);
    client.socket.write(get('/').repeat(100));
    const closed = sendUntilClosed(client, get('/'), 50);
    await sleep(1_500);
    client.socket.resume();
    await Promise.all([closed, stopped]);
    expect(client.received()).toHaveLength(client.received().indexOf('\r\n\r\n') + 4 + 2_000_000);
  });

  test('leaves no timer or handle that prevents the process from ending', async () => {
    const { port, process } = await startListenerProcess();
    const { closed } = open(port, 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await sleep(200);
    process.kill('SIGTERM');
    const [code] = await once(process, 'exit');
    expect(code).toBe(0);
    await closed;
  });

  test('does not wait for a client that does not close its side', { retry: 2 }, async () => {
    const server = await serve(undefined, { lingerTimeout: 300 });
    const client = await openIdle(server.port);
    client.socket.removeAllListeners('end');
    expect((await timeStop(server, NO_GRACE)).duration).toBeLessThan(2_000);
  });

  test('does not wait for a client that sends CONNECT after responses that it does not read', {
    retry: 2,
  }, async () => {
    const server = await serve(respondWith('x'.repeat(3_000_000)));
    openPaused(server.port, get('/').repeat(6) + TUNNEL);
    await expect.poll(server.served).toBeGreaterThan(0);
    await sleep(300);
    const { dropped, duration } = await timeStop(server, { grace: 0, deadline: 3_000 });
    expect(dropped).toBe(1);
    expect(duration).toBeLessThan(4_000);
  });

  test('does not wait for a connection that has ended with CONNECT behind other requests', async () => {
    const server = await serve();
    const client = await exchange(server.port, get('/').repeat(2) + TUNNEL);
    expect(client.statuses()).toEqual([200, 200, 400]);
    expect(await server.stop({ grace: 0, deadline: 3_000 })).toBe(0);
  });
});
