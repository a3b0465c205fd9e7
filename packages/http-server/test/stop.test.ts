import { once } from 'node:events';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
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

/** Opens a connection every 50 ms, as a load balancer does that has not noticed the stop. */
function keepOpening(port: number): NodeJS.Timeout {
  return setInterval(() => open(port, get('/')), 50);
}

/** Keeps opening connections until the server has stopped listening. */
async function openUntilRefused(port: number): Promise<void> {
  for (;;) {
    try {
      await once(open(port, get('/')).socket, 'connect');
    } catch {
      return;
    }
    await sleep(20);
  }
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

describe('the grace of a stop', () => {
  test('ends at once if no connection is open', { retry: 2 }, async () => {
    expect((await timeStop(await serve(), GRACE)).duration).toBeLessThan(500);
  });

  test('ends within a second if the last connection has just been closed', { retry: 2 }, async () => {
    const server = await serve();
    await exchange(server.port, get('/', 'Connection: close\r\n'));
    expect((await timeStop(server, GRACE)).duration).toBeLessThan(1_000);
  });

  test('ends soon if nothing happens on the connections that are open', { retry: 2 }, async () => {
    const server = await serve();
    const idle = await openIdle(server.port);
    await sleep(1_000);
    const { dropped, duration } = await timeStop(server, GRACE);
    expect(duration).toBeGreaterThan(500);
    expect(duration).toBeLessThan(2_000);
    expect(dropped).toBe(0);
    expect(idle.errors).toEqual([]);
  });

  test('continues for connections that were opened while the event loop was blocked', async () => {
    const server = await serve();
    await openIdle(server.port);
    const stopped = server.stop(GRACE);
    // After this phase the event loop runs timers, and only then reads sockets.
    await setImmediate();
    const late = open(server.port, get('/'));
    process.nextTick(() => {
      const end = performance.now() + 1_000;
      while (performance.now() < end);
    });
    await stopped;
    expect({ statuses: late.statuses(), errors: late.errors }).toEqual({ statuses: [200], errors: [] });
  });

  test('continues while connections are opened or used, up to its limit', { retry: 2 }, async () => {
    const server = await serve();
    const idle = await Promise.all(Array.from({ length: 15 }, () => openIdle(server.port)));
    const stopped = timeStop(server, { ...GRACE, grace: 5_000 });
    for (const { socket, statuses } of idle) {
      await sleep(100);
      socket.write(get('/'));
      await expect.poll(statuses, { interval: 10 }).toEqual([200, 200]);
    }
    const opening = keepOpening(server.port);
    const { duration } = await stopped;
    clearInterval(opening);
    expect(duration).toBeGreaterThan(4_900);
    expect(duration).toBeLessThan(6_500);
  });

  test.each([
    ['on new connections', keepOpening],
    [
      'on one connection',
      (port: number) => {
        const { socket } = open(port, get('/'));
        return setInterval(() => socket.write(get('/')), 50);
      },
    ],
  ])('continues while health checks call a server of their own %s', async (_where, keepChecking) => {
    const [server, probes] = [await serve(), await serve()];
    const checks = keepChecking(probes.port);
    await untilAccepted(probes);
    const { duration } = await timeStop(server, { grace: 2_000, deadline: 5_000, probes: probes.running });
    clearInterval(checks);
    expect(duration).toBeGreaterThan(1_900);
  });

  test('has each response close its connection', async () => {
    const server = await serve();
    const idle = await openIdle(server.port);
    const stopped = server.stop(GRACE);
    const started = open(server.port, get('/2'));
    idle.socket.write(get('/3'));
    await Promise.all([idle.closed, started.closed, stopped]);
    expect(idle.received()).toMatch(/keep-alive[\s\S]*\/HTTP[\s\S]*\r\nConnection: close\r\n[\s\S]*\/3$/);
    expect(started.received()).toMatch(/\r\nConnection: close\r\n[\s\S]*\/2$/);
    expect([...idle.errors, ...started.errors]).toEqual([]);
  });

  test('accepts a request on a connection that was opened at its end', async () => {
    const server = await serve();
    open(server.port, get('/'));
    await untilAccepted(server);
    const stopped = server.stop({ ...GRACE, grace: 2_000 });
    const refused = openUntilRefused(server.port);
    await sleep(1_300);
    const client = open(server.port);
    // From now on the server closes idle connections 750 ms after it has accepted the last.
    await refused;
    client.socket.write(get('/'));
    await Promise.all([client.closed, stopped]);
    expect(client.statuses()).toEqual([200]);
  });
});

// tools/explorer shows that a stop loses no request that waits, and ends at its deadline.
describe('a stop', () => {
  test('waits for requests in flight, whose responses close their connections', async () => {
    const { promise: isStopping, resolve: continueRequest } = Promise.withResolvers<void>();
    const server = await serve(async (_request, response) => {
      await isStopping;
      await sleep(500);
      response.end('done');
    });
    const client = open(server.port, get('/'));
    await expect.poll(server.served).toBe(1);
    const stopped = server.stop(NO_GRACE);
    continueRequest();
    expect(await stopped).toBe(0);
    await client.closed;
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n[\s\S]*done$/);
    await expect(open(server.port).closed).resolves.toBeUndefined();
  });

  test('waits for a response that has begun', async () => {
    const server = await serve(async (_request, response) => {
      response.write('one,');
      await sleep(1_500);
      response.end('two');
    });
    const client = open(server.port, get('/'));
    await expect.poll(client.received).toContain('one');
    expect(await server.stop(NO_GRACE)).toBe(0);
    await client.closed;
    expect(client.received()).toMatch(/two\r\n0\r\n\r\n$/);
  });

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
