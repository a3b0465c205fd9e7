import { once } from 'node:events';
import { bodyLimit } from 'hono/body-limit';
import { describe, expect, test } from 'vitest';
import type { AppOptions } from '../src/app/app.ts';
import type { Middleware } from '../src/app/env.ts';
import {
  AUTHORIZATION,
  CLOSE,
  JSON_TYPE,
  length,
  openSocket,
  request,
  startService,
  statusesIn,
  untilClosed,
} from './service.ts';

// The middleware of a program, on the server of the service.
const MIDDLEWARE: readonly (readonly [name: string, middleware: Middleware])[] = [
  ['limits it', bodyLimit({ maxSize: 1_000_000 })],
  ['reads a clone of it', (c, next) => c.req.raw.clone().text().then(next)],
  [
    'parses it',
    (c, next) =>
      c.req
        .json()
        .catch(() => {})
        .then(next),
  ],
  [
    'looks at it',
    (c, next) => {
      expect(c.req.raw.body).not.toBeUndefined();
      return next();
    },
  ],
];

const CREATION = AUTHORIZATION + JSON_TYPE + CLOSE;
const REX = '{"name":"Rex","categoryId":1}';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

describe.for(MIDDLEWARE)('a body, if middleware %s,', ([, middleware]) => {
  const start = () => startService({}, { initApp: (app) => app.use(middleware) });

  test('is read by the operation, with its limit', async () => {
    const { raw, logged } = await start();
    for (const [body, status] of [
      [REX, 201],
      [`{"x":"${'x'.repeat(70_000)}"}`, 413],
    ] as const) {
      const creations = [
        request('POST /v1/pets', CREATION + length(body.length), body),
        request('POST /v1/pets', CREATION + CHUNKED, `${chunk(body)}0\r\n\r\n`),
      ];
      for (const creation of creations) expect(statusesIn(await raw(creation))).toEqual([status]);
    }
    expect(logged).toMatchObject([201, 201, 413, 413].map((status) => ({ route: '/v1/pets', status })));
  });

  test('that is malformed or ends early gets one response, with 400 and its reason', async () => {
    const { port, logged } = await start();
    for (const [fields, body, reason] of [
      [CHUNKED, 'hello\r\n', /malformed HTTP request/],
      [CHUNKED, '1\r\n{\r\nhello\r\n', /malformed HTTP request/],
      [length(9), '{', /the request ended before its body did/],
    ] as const) {
      const socket = openSocket(port);
      socket.end(request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + fields, body));
      const text = await untilClosed(socket);
      expect([statusesIn(text), text]).toEqual([[400], expect.stringMatching(reason)]);
      expect(logged.pop()).toMatchObject({ route: '/v1/pets', status: 400, error: 'invalid_request' });
    }
  });

  test('that nothing else reads leaves the connection to the next request', async () => {
    const { port, unexpectedErrors } = await start();
    const socket = openSocket(port);
    const body = ' '.repeat(300_000);
    socket.write(request('POST /v1/pets', `Authorization: Bearer wrong\r\n${JSON_TYPE}${length(body.length)}`, body));
    socket.write(request('GET /v1/pets', AUTHORIZATION + CLOSE));
    expect(statusesIn(await untilClosed(socket))).toEqual([401, 200]);
    expect(unexpectedErrors).toEqual([]);
  });
});

test('a body that middleware reads by c.req.raw is gone: the operation responds with 500, and the defect is reported', async () => {
  const read: Middleware = (c, next) => c.req.raw.text().then(next);
  const { raw, unexpectedErrors } = await startService({}, { initApp: (app) => app.use(read) });
  expect(statusesIn(await raw(request('POST /v1/pets', CREATION + length(REX.length), REX)))).toEqual([500]);
  expect(unexpectedErrors).toEqual([expect.objectContaining({ message: 'Body is unusable' })]);
});

test('a body that a route cancels is the last of its connection', async () => {
  const initApp: AppOptions['initApp'] = (app) =>
    app.post('/own', async (c) => {
      await c.req.raw.body?.cancel();
      return c.text('canceled');
    });
  const { port } = await startService({}, { initApp });
  const socket = openSocket(port);
  socket.write(request('POST /own', length(300_000), ' '.repeat(300_000)) + request('GET /livez', CLOSE));
  // Otherwise an inactive connection is closed after 35 seconds.
  const [received] = await Promise.all([
    untilClosed(socket),
    once(socket, 'close', { signal: AbortSignal.timeout(20_000) }),
  ]);
  expect(statusesIn(received)).toEqual([200]);
});
