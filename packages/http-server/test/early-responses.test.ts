import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readBody } from '../src/index.ts';
import { MAX_AWAITED_BODY, MAX_HEADER_SIZE } from '../src/size-limits.ts';
import { type Client, exchange, get, open, openPaused, post, respondWith, sendUntilClosed, serve } from './serving.ts';

/** A client that reads nothing before it has sent everything, as many HTTP libraries do. */
async function sendSlowly(port: number, head: string, parts: readonly string[], pause: number): Promise<Client> {
  const client = openPaused(port);
  const send = (bytes: string) => new Promise((resolve) => client.socket.write(bytes, resolve));
  await send(head);
  for (const part of parts) {
    await sleep(pause);
    await send(part);
  }
  client.socket.resume();
  return client;
}

const head = (length: number, fields = '') =>
  `POST / HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: ${length}\r\n\r\n`;

// tools/explorer shows after which bodies, short, long or held back, the connection continues.
describe('a response that comes before the body of its request', () => {
  test.each(['', 'Expect: 100-continue\r\n'])(
    'reaches a client that takes its time to send a large body, %j',
    async (fields) => {
      const { port } = await serve(undefined, { lingerTimeout: 50 });
      const parts = Array.from({ length: 8 }, () => 'x'.repeat(200_000));
      const { received, errors, closed } = await sendSlowly(port, head(1_600_000, fields), parts, 150);
      await closed;
      expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n(?:.+\r\n)*\r\n\/$/);
      expect(errors).toEqual([]);
    },
  );

  test('reaches a client that sends a body of unknown length', async () => {
    const { port } = await serve();
    const part = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`;
    const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { statuses, errors, closed } = await sendSlowly(port, chunked, [part, part, part, part, '0\r\n\r\n'], 200);
    await closed;
    expect(statuses()).toEqual([200]);
    expect(errors).toEqual([]);
  });

  test('reaches a client that sends a large body before it reads a large response', async () => {
    const text = 'y'.repeat(20_000_000);
    const { port } = await serve(respondWith(text));
    const parts = Array.from({ length: 10 }, () => 'x'.repeat(2_000_000));
    const { received, errors, closed } = await sendSlowly(port, head(20_000_000), parts, 50);
    await closed;
    expect(received().length).toBeGreaterThan(text.length);
    expect(errors).toEqual([]);
  });

  test.each([
    ['stays open', 'keep-alive', MAX_AWAITED_BODY],
    ['closes', 'close', MAX_AWAITED_BODY + 1],
  ])('names whether the connection %s, which depends on the length of the body', async (_what, field, length) => {
    const { port } = await serve();
    const { received } = open(port, head(length));
    await expect.poll(received).toContain(`\r\nConnection: ${field}\r\n`);
  });

  test('is the only one for a client that never ends the body, and the connection is closed', async () => {
    const { port } = await serve(undefined, {
      headersTimeout: 600,
      requestTimeout: 600,
      connectionsCheckingInterval: 50,
    });
    for (const length of [70_000, 70_000_000]) {
      const client = open(port, head(length));
      await sendUntilClosed(client, 'x', 50);
      expect(client.statuses()).toEqual([200]);
    }
  });

  test.each([
    ['HEAD', ''],
    ['HEAD', '0\r\n\r\n'],
    ['GET', '0\r\n\r\n'],
    ['DELETE', '5\r\nhello\r\n0\r\n\r\n'],
  ])('does not lose the responses before a %s request with the body %j', async (method, body) => {
    const { port } = await serve();
    const behind = `${method} / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
    const client = await exchange(port, post('/', 'hello') + post('/', 'hello') + behind);
    expect(client.statuses()).toEqual([200, 200, 200]);
    expect(client.errors).toEqual([]);
  });

  test('closes the connection if the body is too late before the response ends', async () => {
    const { port } = await serve(
      async (_request, response) => {
        response.write('one,');
        await sleep(800);
        response.end('two');
      },
      { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 50 },
    );
    const started = performance.now();
    const { received } = await exchange(port, head(10));
    expect(received()).toMatch(/keep-alive[\s\S]*one,[\s\S]*two\r\n0\r\n\r\n$/);
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});

test('a rejection reaches a client that takes its time to send a header section that is too large', async () => {
  const { port } = await serve(undefined, { lingerTimeout: 50 });
  const start = `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(MAX_HEADER_SIZE)}`;
  const { statuses, errors, closed } = await sendSlowly(port, start, ['x', 'x', '\r\n\r\n'], 150);
  await closed;
  expect(statuses()).toEqual([431]);
  expect(errors).toEqual([]);
});

test('a last response is written to its end however slowly it is read', async () => {
  const text = 'y'.repeat(20_000_000);
  const { port } = await serve(respondWith(text), {
    headersTimeout: 200,
    requestTimeout: 200,
    connectionsCheckingInterval: 50,
  });
  const { socket, received, closed } = openPaused(port, get('/', 'Connection: close\r\n'));
  await sleep(1_000);
  socket.resume();
  await closed;
  expect(received().length).toBeGreaterThan(text.length);
});

describe('a listener that begins its response before it reads the body', () => {
  test.each([
    ['malformed', 'hello\r\n', 'a chunk of the body is malformed'],
    ['late', '1\r\nx\r\n', 'the request did not arrive in time'],
  ])('is notified of a body that is %s, and ends its response', async (_what, bytes, message) => {
    const { port } = await serve(
      async (request, response) => {
        response.write('one,');
        response.end(await readBody(request, 1_000).catch((error) => error.message));
      },
      { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 20 },
    );
    const client = open(port, 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    await expect.poll(client.received, { interval: 5 }).toContain('one,');
    await sendUntilClosed(client, bytes, 50);
    expect(client.received()).toContain(`\r\n${message}\r\n0\r\n\r\n`);
  });
});

const expecting = (expectation: string, body: string, version = '1.1') =>
  `POST / HTTP/${version}\r\nHost: x\r\nExpect: ${expectation}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

describe('a client that expects 100 Continue', () => {
  test.each([
    ['100-continue', '1.1', /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [\s\S]*hello$/],
    ['100-Continue', '1.1', /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [\s\S]*hello$/],
    ['a-miracle', '1.1', /^HTTP\/1\.1 200 [\s\S]*hello$/],
    ['100-continue', '1.0', /^HTTP\/1\.1 200 [\s\S]*hello$/],
  ])('gets 100 Continue when the body is read: %s, HTTP/%s', async (expectation, version, pattern) => {
    const { port } = await serve(async (request, response) => {
      response.end(await readBody(request, 100));
    });
    const { received } = await exchange(port, expecting(expectation, 'hello', version));
    expect(received()).toMatch(pattern);
  });

  test('gets no 100 Continue within its response', async () => {
    const { port } = await serve(async (request, response) => {
      response.flushHeaders();
      request.resume();
      await sleep(1);
      response.end('done');
    });
    const { socket, received, closed } = open(port, head(5, 'Expect: 100-continue\r\n'));
    await expect.poll(received).toContain('done');
    socket.end();
    await closed;
    expect(received()).not.toContain('100 Continue');
  });

  test('gets the responses to the requests after it if it has no body', async () => {
    const { port } = await serve();
    const client = await exchange(
      port,
      get('/', 'Expect: 100-continue\r\n') + get('/') + get('/', 'Connection: close\r\n'),
    );
    expect(client.statuses()).toEqual([200, 200, 200]);
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: keep-alive\r\n/);
  });
});
