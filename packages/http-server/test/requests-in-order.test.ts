import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { get, open, post, respondToBody, sendUntilClosed, serve } from './serving.ts';

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
    // Otherwise the listener has rejected the body.
    if (what === 'header section') expect(client.received()).toMatch(/\r\n\r\nthe request did not arrive in time$/);
  });

  test('leave a connection that may be idle for longer than a request may take', async () => {
    const { port } = await serve(undefined, SHORT);
    const { socket, statuses, closed } = open(port, get('/').repeat(3));
    await expect.poll(statuses).toEqual([200, 200, 200]);
    await sleep(4 * SHORT.requestTimeout);
    socket.write(get('/', 'Connection: close\r\n'));
    await closed;
    expect(statuses()).toEqual([200, 200, 200, 200]);
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

  test('leave a connection that may be idle, after one of them was late while it waited', async () => {
    const { port } = await serve(respondToBody, { ...SHORT, requestTimeout: 800 });
    const { socket, statuses, closed } = open(port, get('/?400') + get('/') + get('/').slice(0, -2));
    await expect.poll(statuses, { interval: 5 }).toEqual([200, 200]);
    socket.write(`\r\n${get('/').repeat(2)}`);
    await expect.poll(statuses).toEqual([200, 200, 200, 200, 200]);
    await sleep(1_500);
    socket.write(get('/', 'Connection: close\r\n'));
    await closed;
    expect(statuses()).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
