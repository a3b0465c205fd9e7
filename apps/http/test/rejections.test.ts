import { once } from 'node:events';
import { expect } from 'vitest';
import {
  AUTHORIZATION,
  CLOSE,
  JSON_TYPE,
  length,
  metric,
  openSocket,
  request,
  startService,
  startWaitingServer,
  statusesIn,
  test,
  untilClosed,
} from './service.ts';

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CREATION = AUTHORIZATION + JSON_TYPE;

const MALFORMED_BODY = request('POST /v1/pets', CREATION + CHUNKED, 'hello\r\n');

/** A request for a target, or with a Host field, of its own. */
const get = (target: string, host = 'x') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}\r\n`;

const HOST = /one Host field/;
const TARGET = /target must be a path/;
const MALFORMED = /malformed HTTP request: (?!Parse Error)./;

test.for<[string, string, RegExp, status?: number]>([
  ['bytes that are not HTTP', 'hello\r\n\r\n', MALFORMED],
  ['a header section above 16 KiB', get('/livez', 'x'.repeat(20_000)), /fewer than 16384 bytes/, 431],
  ['no Host field', `GET /v1/pets HTTP/1.1\r\n${AUTHORIZATION}${CLOSE}\r\n`, HOST],
  ['two Host fields', request('GET /livez', `Host: y\r\n${CLOSE}`), HOST],
  ...['a b', 'a, b', 'a/b', 'a?b', 'a@b', '[::1', '[::1::]', 'a:b', 'a%2'].map((host): [string, string, RegExp] => [
    `the host ${host}`,
    get('/livez', host),
    HOST,
  ]),
  ...['a b', 'a/b', 'a?b', 'a@b', '[::1', 'a:b', 'a%2', 'a\tb'].map((host): [string, string, RegExp] => [
    `the host ${host} with a target that is a URL`,
    get('http://example.org/livez', host),
    HOST,
  ]),
  ['no Host field with a target that is a URL', `GET http://x/livez HTTP/1.1\r\n${CLOSE}\r\n`, HOST],
  ['two Host fields with a target that is a URL', request('GET http://x/livez', `Host: x\r\n${CLOSE}`), HOST],
  ['OPTIONS *', request('OPTIONS *', CLOSE), TARGET],
  ...['http:///livez', 'ftp://example.org/livez', '/v1\\pets'].map((target): [string, string, RegExp] => [
    `the target ${target}`,
    get(target),
    TARGET,
  ]),
  ['a malformed chunk', MALFORMED_BODY, MALFORMED],
])(
  'rejects %s in the Error shape',
  async ([, bytes, message, status = 400], { service: { raw, unexpectedErrors } }) => {
    const text = await raw(bytes);
    expect(statusesIn(text)).toEqual([status]);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    for (const field of [
      ...['content-type: application/json', 'connection: close', 'date: \\w{3}, .* GMT', 'x-request-id: [\\da-f-]{36}'],
      'x-content-type-options: nosniff',
    ]) {
      expect(head).toMatch(new RegExp(`^${field}$`, 'im'));
    }
    expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: expect.stringMatching(message), status });
    expect(unexpectedErrors).toEqual([]);
  },
);

test.each([
  ['*', 'hello\r\n\r\n', '*', undefined],
  ['https://a.example', 'hello\r\n\r\n', undefined, 'Origin'],
  ['https://a.example', request('OPTIONS *', `Origin: https://a.example\r\n${CLOSE}`), 'https://a.example', 'Origin'],
])('lets scripts of %s read the rejection of %j', async (CORS_ORIGINS, bytes, allowed, vary) => {
  const [head = ''] = (await (await startService({ CORS_ORIGINS })).raw(bytes)).split('\r\n\r\n');
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
  expect([statusesIn(head), field('access-control-allow-origin'), field('vary')]).toEqual([[400], allowed, vary]);
  expect(field('access-control-expose-headers')).toMatch(/X-Request-Id/);
});

test.for([
  [200, get('http://example.org/livez', 'example.org')],
  [200, get('https://example.org:443/livez?x=y', 'example.org')],
  [200, get('http://example.org/livez', '')],
  [200, get('http://example.org/livez', 'other.example:80')],
  // An empty host is valid (RFC 9112, section 3.2).
  ...['', '[::1]:3000', 'localhost:65535', 'LOCALHOST:80', 'web.1', 'a_b'].map(
    (host) => [200, get('/livez', host)] as const,
  ),
  // As load balancers probe.
  [200, 'GET /livez HTTP/1.0\r\n\r\n'],
  [302, get('http://example.org')],
  [302, get('http://example.org?x')],
  [200, get('/v1/../livez')],
  [401, get('/livez/%2E%2e/v1/pets')],
  [200, get('/livez?^`{|}"<>')],
] as const)('responds with %d to %j', async ([status, bytes], { service: { raw } }) => {
  expect(statusesIn(await raw(bytes))).toEqual([status]);
});

test('responds to a request, and closes the connection, if what follows is not HTTP', async ({ service: { raw } }) => {
  // As if the Content-Length of the body were too small.
  const text = await raw(request('POST /v1/pets', CREATION + length(2), '{}"}'));
  expect(statusesIn(text)).toEqual([400]);
  expect(text).toMatch(/name/);
});

test.for([
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n'],
  ['a malformed body behind a request that waits', request('GET /livez') + MALFORMED_BODY],
] as const)('closes the connection on %s, without a response', async ([, bytes], { service }) => {
  expect(await service.raw(bytes)).toBe('');
  expect((await service.call('GET', '/livez')).status).toBe(200);
});

test('rejects malformed HTTP on a connection that has served a request', async ({ service: { port } }) => {
  for (const [bytes, status] of [
    [get('/livez', 'x'.repeat(20_000)), 431],
    ['hello\r\n\r\n', 400],
  ] as const) {
    const socket = openSocket(port);
    socket.write(request('GET /livez'));
    await once(socket, 'data');
    socket.write(bytes);
    expect(statusesIn(await untilClosed(socket))).toEqual([status]);
  }
});

test('serves the requests of a connection one after the other', async ({ service: { raw } }) => {
  const creation = request('POST /v1/pets', CREATION + length(29), '{"name":"Rex","categoryId":1}');
  const text = await raw(creation + creation + request('GET /v1/pets', AUTHORIZATION + CLOSE));
  expect(statusesIn(text)).toEqual([201, 201, 200]);
  expect(text).toMatch(/\[\{"id":1,.*\},\{"id":2,.*\}\]$/);
});

test('closes the connection, without a second response, if the rest of a body that was rejected is malformed', async ({
  service: { port },
}) => {
  const socket = openSocket(port);
  socket.write(request('POST /v1/pets', JSON_TYPE + CHUNKED, '1\r\nx\r\n'));
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
  const more: string[] = [];
  socket.on('data', (chunk) => more.push(String(chunk)));
  socket.write('hello\r\n');
  // Node itself would close it after 65 seconds.
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
  expect(more).toEqual([]);
});

test('closes the connection if the rest of a body is malformed while its response is being sent', async () => {
  const { port, arrived } = await startWaitingServer();
  const socket = openSocket(port);
  const received = untilClosed(socket);
  socket.write(request('POST /', CHUNKED, '1\r\nx\r\n'));
  const [incoming, response] = await arrived;
  incoming.on('error', () => {}).resume();
  response.write('begun');
  socket.write('hello\r\n');
  expect(statusesIn(await received)).toEqual([200]);
});

test('serves a request with Upgrade, closes its connection, and reads nothing behind it', async ({ service }) => {
  const upgrade = `${AUTHORIZATION}Connection: Upgrade\r\nUpgrade: h2c\r\n`;
  const creation = request('POST /v1/pets', CREATION + length(29), '{"name":"Rex","categoryId":1}');
  const text = await service.raw(request('GET /v1/pets', upgrade) + creation);
  expect(statusesIn(text)).toEqual([200]);
  expect(text).toMatch(/^connection: close$/im);
  expect((await service.call('GET', '/v1/pets')).json).toEqual([]);
});

test('logs a rejection under the id that the client gets, but no bytes behind a last response, and no reset', async ({
  service,
}) => {
  const socket = openSocket(service.port);
  await once(socket, 'connect');
  socket.resetAndDestroy();
  await once(socket, 'close');
  const id = /^x-request-id: (\S+)\r$/im.exec(await service.raw('hello\r\n\r\n'))?.[1];
  await service.raw('GET /v1/pets HTTP/1.1\r\nX-Request-Id: sent\r\nConnection: close\r\n\r\n');
  await service.raw(`${request('GET /livez', 'Proxy-Connection: close\r\n')}hello\r\n\r\n`);
  expect(service.logged).toMatchObject([
    { method: '-', route: 'unparsable', status: 400, requestId: id },
    { method: 'GET', route: 'unmatched', status: 400, requestId: 'sent' },
    { method: 'GET', route: '/livez', status: 200 },
  ]);
  expect(await metric(service, 'http_requests_in_flight')).toBe(1);
});

test.for([
  ['a malformed chunk', '/v1/pets', 'POST /v1/pets', CHUNKED, 'hello\r\n', 400],
  ['a malformed chunk', '/mcp', 'POST /mcp', CHUNKED, 'hello\r\n', 400],
  ['a body that ends early', '/v1/pets', 'POST /v1/pets', length(9), '{', 400],
] as const)(
  'records %s of %s once, with its route and key',
  async ([, route, line, fields, body, status], { service }) => {
    const socket = openSocket(service.port);
    socket.end(request(line, CREATION + fields, body));
    expect(statusesIn(await untilClosed(socket))).toEqual([status]);
    await expect.poll(() => metric(service, 'http_requests_in_flight')).toBe(1);
    expect(service.logged.filter((logged) => logged['route'] !== '/metrics')).toMatchObject([
      { method: 'POST', route, status, holder: expect.any(String), error: 'invalid_request' },
    ]);
  },
);

test('logs a Host field or a target that is malformed with the id, the method and the address of its client', async ({
  service: { raw, logged },
}) => {
  for (const line of ['GET ftp://example.org/livez', 'OPTIONS *', 'GET /livez', 'GET /\\livez']) {
    const host = line === 'GET /livez' ? 'a b' : 'x';
    const text = await raw(`${line} HTTP/1.1\r\nHost: ${host}\r\nX-Request-Id: sent\r\n${CLOSE}\r\n`);
    expect(statusesIn(text)).toEqual([400]);
  }
  const line = { route: 'unmatched', status: 400, client: '127.0.0.1' };
  expect(logged).toMatchObject([
    { ...line, method: 'GET', requestId: 'sent' },
    { ...line, method: 'OPTIONS', requestId: 'sent' },
    { ...line, method: 'GET', requestId: 'sent' },
    { ...line, method: 'GET', requestId: 'sent' },
  ]);
});

test("a rejection of a body has the request's id", async ({ service: { raw } }) => {
  const fields = `${CREATION}X-Request-Id: sent\r\n${CHUNKED}`;
  expect(await raw(request('POST /v1/pets', fields, 'hello\r\n'))).toMatch(/^x-request-id: sent\r$/im);
});

test('leaves no request in flight whose client disconnects in the middle of its body', async ({ service }) => {
  for (let count = 0; count < 20; count += 1) {
    const socket = openSocket(service.port).resume();
    socket.write(request('POST /v1/pets', CREATION + length(100), '{"name'), () =>
      count % 2 === 0 ? socket.destroy() : socket.end(),
    );
    await once(socket, 'close');
  }
  expect((await service.call('GET', '/v1/pets')).text).toBe('[]');
  await expect.poll(() => metric(service, 'http_requests_in_flight')).toBe(1);
  expect(service.unexpectedErrors).toEqual([]);
});

test('reads each of two thousand header fields', async ({ service: { raw } }) => {
  const fields = `${'a:1\r\n'.repeat(2_000)}${AUTHORIZATION}${CLOSE}`;
  expect(statusesIn(await raw(request('GET /v1/pets', fields)))).toEqual([200]);
});
