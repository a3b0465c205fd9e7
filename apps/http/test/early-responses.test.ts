import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { AUTHORIZATION, CLOSE, JSON_TYPE, length, openSocket, request, statusesIn, test } from './service.ts';

const CREATION = AUTHORIZATION + JSON_TYPE;
const REX = '{"name":"Rex","categoryId":1}';

/** What comes back next, within the time that any response may take. */
async function nextOf(socket: Socket): Promise<string> {
  const [chunk] = await once(socket, 'data', { signal: AbortSignal.timeout(30_000) });
  return String(chunk);
}

/** Sends a request, and reads nothing before all of it is sent. */
async function sendThenRead(port: number, head: string, body: Buffer): Promise<string> {
  const socket = openSocket(port);
  socket.write(head);
  await new Promise((resolve) => socket.write(body, resolve));
  return nextOf(socket);
}

describe('a client that reads only after it has sent its body', () => {
  const BODY = Buffer.alloc(5_000_000, ' ');
  const CHUNKS = Buffer.from(`1000\r\n${' '.repeat(4_096)}\r\n`.repeat(1_500));
  const DECLARED = length(BODY.length);

  test.for<[number, string, string, Buffer?, string?]>([
    [401, 'POST /v1/pets', JSON_TYPE + CLOSE + DECLARED],
    [404, 'POST /v1/x', AUTHORIZATION + CLOSE + DECLARED],
    [404, 'POST /x', CLOSE + DECLARED],
    [405, 'PUT /v1/pets', AUTHORIZATION + CLOSE + DECLARED],
    [413, 'POST /v1/pets', CREATION + CLOSE + DECLARED],
    [413, 'POST /v1/pets', `${CREATION + CLOSE}Transfer-Encoding: chunked\r\n`, CHUNKS],
    [415, 'POST /v1/pets', `${AUTHORIZATION}Connection: Close\r\n${DECLARED}`],
    [400, 'POST /v1/pets', `Host: y\r\n${CLOSE}${DECLARED}`],
    [405, 'PUT /v1/pets', `${AUTHORIZATION}Connection: upgrade\r\nUpgrade: x\r\n${DECLARED}`],
    [200, 'GET /docs', CLOSE + DECLARED],
    [413, 'POST /v1/pets', CREATION + DECLARED, BODY, 'HTTP/1.0'],
  ])(
    'gets the %d of %s (%j), which closes the connection',
    async ([status, line, fields, body = BODY, version = 'HTTP/1.1'], { service }) => {
      const text = await sendThenRead(service.port, request(line, fields).replace('HTTP/1.1', version), body);
      expect(statusesIn(text)).toEqual([status]);
      expect(text).toMatch(/^connection: close\r$/im);
    },
  );

  test('gets a 413 that leaves the connection open, after 100 MB', async ({ service: { port } }) => {
    const body = Buffer.alloc(100_000_000, ' ');
    const head = request('POST /v1/pets', CREATION + length(body.length));
    expect(statusesIn(await sendThenRead(port, head, body))).toEqual([413]);
  });

  test('gets its 401 in the grace of a stop', async ({ service: { port, stop } }) => {
    const stopped = stop({ grace: 2_000, deadline: 30_000 });
    expect(statusesIn(await sendThenRead(port, request('POST /v1/pets', JSON_TYPE + DECLARED), BODY))).toEqual([401]);
    await stopped;
  });
});

test('closes the connection of a client that never ends its body, after the response', async ({
  service: { port },
}) => {
  const socket = openSocket(port);
  const closed = once(socket, 'close');
  socket.write(request('POST /v1/pets', length(100) + CLOSE, '{'));
  expect(statusesIn(await nextOf(socket))).toEqual([401]);
  await closed;
});

const CONTINUE = 'Expect: 100-continue\r\n';

test.for([
  [401, 'POST /v1/pets', JSON_TYPE + length(29)],
  [413, 'POST /v1/pets', CREATION + length(70_000_000)],
  [415, 'POST /v1/pets', AUTHORIZATION + length(29)],
  [405, 'PUT /v1/pets', AUTHORIZATION + length(29)],
  [404, 'POST /x', length(29)],
  [400, 'POST /v1/pets', `Host: y\r\n${CREATION}${length(29)}`],
] as const)(
  'responds with %d alone to %s (%j), before the body is sent',
  async ([status, line, fields], { service }) => {
    for (const expectation of ['', CONTINUE]) {
      const socket = openSocket(service.port);
      socket.write(request(line, expectation + fields));
      expect(statusesIn(await nextOf(socket))).toEqual([status]);
    }
  },
);

describe('a client that expects 100 Continue', () => {
  const creation = request('POST /v1/pets', CONTINUE + CREATION + CLOSE + length(REX.length));

  test('gets it when the body is wanted', async ({ service: { port } }) => {
    const socket = openSocket(port);
    socket.write(creation);
    expect(await nextOf(socket)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(REX);
    expect(statusesIn(await nextOf(socket))).toEqual([201]);
  });

  test('gets 201 for a body that it sends at once', async ({ service: { raw } }) => {
    expect(statusesIn(await raw(creation + REX))).toEqual([100, 201]);
  });

  test('gets the response after the body if it did not wait', async ({ service: { port } }) => {
    const body = Buffer.alloc(5_000_000, ' ');
    const head = request('POST /v1/pets', CONTINUE + JSON_TYPE + length(body.length));
    expect(statusesIn(await sendThenRead(port, head, body))).toEqual([401]);
  });

  test('gets a 401 that closes the connection, and nothing behind it is executed', async ({ service }) => {
    const rejected = request('POST /v1/pets', CONTINUE + JSON_TYPE + length(REX.length), REX);
    const behind = request('POST /v1/pets', CREATION + length(REX.length), REX);
    expect(statusesIn(await service.raw(rejected + behind))).toEqual([401]);
    expect((await service.call('GET', '/v1/pets')).json).toEqual([]);
  });
});

test('serves a client that expects anything else as if it expected nothing', async ({ service: { raw } }) => {
  const fields = `Expect: 200-ok\r\n${CREATION}${length(REX.length)}${CLOSE}`;
  expect(statusesIn(await raw(request('POST /v1/pets', fields, REX)))).toEqual([201]);
});
