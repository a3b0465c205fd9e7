import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Client, exchange, get, open, type Serving, serve } from '../test/serving.ts';
import type { OutgoingResponse, RunningServer } from './index.ts';

const GRACE = { grace: 10_000, deadline: 5_000 };
const NO_GRACE = { grace: 0, deadline: 5_000 };

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    fakeNodeBuiltins: true,
  });
});
afterEach(() => void vi.useRealTimers());

/** Lets the event loop accept, read and write what there is. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await turn();
}

async function pass(time: number): Promise<void> {
  await settle();
  await vi.advanceTimersByTimeAsync(time);
  await settle();
}

/** Stops a server, and returns the duration in milliseconds and the number of dropped connections. */
async function timeStop(server: Serving, times: Parameters<RunningServer['stop']>[0]) {
  const started = performance.now();
  const dropped = await server.stop(times);
  return { duration: performance.now() - started, dropped };
}

/** A client with a response and an open connection. */
async function openIdle(port: number): Promise<Client> {
  const client = open(port, get('/'));
  await expect.poll(client.statuses, { interval: 1 }).toEqual([200]);
  return client;
}

/** A server whose listener does nothing, and the responses that it has got. */
async function serveNothing(): Promise<{ server: Serving; responses: OutgoingResponse[] }> {
  const responses: OutgoingResponse[] = [];
  const server = await serve((_request, response) => void responses.push(response));
  return { server, responses };
}

describe('the grace of a stop', () => {
  test('ends at once if no connection is open, and nothing came in the last 750 ms', async () => {
    const server = await serve();
    expect(await timeStop(await serve(), GRACE)).toEqual({ duration: 0, dropped: 0 });
    await exchange(server.port, get('/', 'Connection: close\r\n'));
    await pass(750);
    expect(await timeStop(server, GRACE)).toEqual({ duration: 0, dropped: 0 });
  });

  test('ends 750 ms after the last request if no connection is open', async () => {
    const server = await serve();
    const client = open(server.port);
    await pass(500);
    client.socket.write(get('/', 'Connection: close\r\n'));
    await client.closed;
    await pass(100);
    const stopped = timeStop(server, GRACE);
    await pass(650);
    expect(await stopped).toEqual({ duration: 650, dropped: 0 });
  });

  test('ends after 750 ms if nothing happens on the connections that are open', async () => {
    const server = await serve();
    const idle = await openIdle(server.port);
    await pass(10_000);
    const stopped = timeStop(server, GRACE);
    await pass(750);
    expect(await stopped).toEqual({ duration: 750, dropped: 0 });
    expect(idle.errors).toEqual([]);
  });

  test('continues for 750 ms after each new connection and each request', async () => {
    const server = await serve();
    const idle = await openIdle(server.port);
    const stopped = timeStop(server, GRACE);
    await pass(700);
    idle.socket.write(get('/'));
    await pass(700);
    const late = open(server.port);
    await pass(700);
    late.socket.write(get('/'));
    await pass(750);
    expect(await stopped).toEqual({ duration: 3 * 700 + 750, dropped: 0 });
    expect([idle.statuses(), late.statuses()]).toEqual([[200, 200], [200]]);
  });

  test('ends at its limit if connections are opened until then', async () => {
    const server = await serve();
    await openIdle(server.port);
    const stopped = server.stop({ ...GRACE, grace: 2_000 });
    for (const time of [600, 600, 600, 199]) {
      await pass(time);
      const accepted = await exchange(server.port, get('/'));
      expect(accepted.statuses()).toEqual([200]);
    }
    await pass(1);
    const rejected = await exchange(server.port, get('/'));
    expect(rejected.errors).toMatchObject([{ code: 'ECONNREFUSED' }]);
    await pass(750);
    expect(await stopped).toBe(0);
  });

  test('continues for a connection that could not be accepted because the event loop was blocked', async () => {
    const server = await serve();
    await openIdle(server.port);
    const stopped = server.stop(GRACE);
    await settle();
    const late = open(server.port, get('/'));
    await new Promise<void>((resolve) => process.nextTick(resolve));
    // The event loop runs timers before it accepts a connection.
    vi.advanceTimersByTime(1_000);
    await settle();
    expect(late.statuses()).toEqual([200]);
    await pass(750);
    expect(await stopped).toBe(0);
  });

  test.each([
    ['new connections', (port: number) => exchange(port, get('/', 'Connection: close\r\n'))],
    ['requests on one connection', (_port: number, { socket }: Client) => socket.write(get('/'))],
  ])('continues while health checks call a server of their own: %s', async (_what, check) => {
    const [server, probes] = [await serve(), await serve()];
    const checking = await openIdle(probes.port);
    const stopped = timeStop(server, { ...GRACE, probes: probes.running });
    for (let checks = 0; checks < 5; checks += 1) {
      await pass(700);
      await check(probes.port, checking);
    }
    await pass(750);
    expect(await stopped).toEqual({ duration: 5 * 700 + 750, dropped: 0 });
  });

  test('does not depend on a server for health checks that gets none', async () => {
    const [server, probes] = [await serve(), await serve()];
    await openIdle(server.port);
    const stopped = timeStop(server, { ...GRACE, probes: probes.running });
    await pass(750);
    expect(await stopped).toEqual({ duration: 750, dropped: 0 });
  });

  test('has each response close its connection', async () => {
    const server = await serve();
    const idle = await openIdle(server.port);
    const stopped = server.stop(GRACE);
    const started = open(server.port, get('/2'));
    idle.socket.write(get('/3'));
    await Promise.all([idle.closed, started.closed]);
    expect(idle.received()).toMatch(/keep-alive[\s\S]*\/HTTP[\s\S]*\r\nConnection: close\r\n[\s\S]*\/3$/);
    expect(started.received()).toMatch(/\r\nConnection: close\r\n[\s\S]*\/2$/);
    expect([...idle.errors, ...started.errors]).toEqual([]);
    await pass(750);
    expect(await stopped).toBe(0);
  });

  test('leaves 750 ms for requests on connections that were opened at its end', async () => {
    const server = await serve();
    const clients = [await openIdle(server.port)];
    const stopped = timeStop(server, { ...GRACE, grace: 1_000 });
    for (const time of [600, 300]) {
      await pass(time);
      clients.push(open(server.port));
    }
    await pass(100);
    for (const [index, time] of [600, 149].entries()) {
      await pass(time);
      clients[index + 1]?.socket.write(get('/'));
    }
    await pass(1);
    expect(clients.map(({ statuses }) => statuses())).toEqual([[200], [200], [200]]);
    expect(await stopped).toEqual({ duration: 1_750, dropped: 0 });
  });

  test('leaves less time if nothing comes', async () => {
    const server = await serve();
    await openIdle(server.port);
    const stopped = timeStop(server, { ...GRACE, grace: 1_000 });
    for (const time of [600, 300]) {
      await pass(time);
      open(server.port);
    }
    await pass(100);
    await pass(650);
    expect(await stopped).toEqual({ duration: 1_650, dropped: 0 });
  });
});

// tools/explorer shows that a stop loses no request that waits, and ends at its deadline.
describe('a stop', () => {
  test('waits for requests in flight, whose responses close their connections', async () => {
    const { server, responses } = await serveNothing();
    const client = open(server.port, get('/'));
    await settle();
    const stopped = timeStop(server, NO_GRACE);
    await pass(4_999);
    responses[0]?.end('done');
    await client.closed;
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n[\s\S]*done$/);
    expect(await stopped).toEqual({ duration: 4_999, dropped: 0 });
  });

  test('waits for a response that has begun', async () => {
    const { server, responses } = await serveNothing();
    const client = open(server.port, get('/'));
    await settle();
    responses[0]?.write('one,');
    const stopped = timeStop(server, NO_GRACE);
    await pass(4_999);
    responses[0]?.end('two');
    await client.closed;
    expect(client.received()).toMatch(/one,[\s\S]*two\r\n0\r\n\r\n$/);
    expect(await stopped).toEqual({ duration: 4_999, dropped: 0 });
  });

  test('closes the connections that are still open at its deadline, and returns their number', async () => {
    const { server, responses } = await serveNothing();
    const clients = [open(server.port, get('/1')), open(server.port, get('/2')), open(server.port)];
    await settle();
    const stopped = timeStop(server, NO_GRACE);
    await pass(4_999);
    expect(clients.map(({ socket }) => socket.closed)).toEqual([false, false, true]);
    await pass(1);
    expect(await stopped).toEqual({ duration: 5_000, dropped: 2 });
    expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  test('ends at a deadline of less than 750 ms', async () => {
    const { server } = await serveNothing();
    open(server.port, get('/'));
    await settle();
    const stopped = timeStop(server, { grace: 0, deadline: 300 });
    await pass(300);
    expect(await stopped).toEqual({ duration: 300, dropped: 1 });
  });

  test('leaves no timer that would prevent the process from ending', async () => {
    const server = await serve();
    await openIdle(server.port);
    const stopped = server.stop(GRACE);
    await pass(750);
    await stopped;
    expect(vi.getTimerCount()).toBe(0);
  });
});
