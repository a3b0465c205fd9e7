import { once } from 'node:events';
import { expect } from 'vitest';
import { KEY, openSocket, type Service, test } from './service.ts';
import { startProcess } from './service-process.ts';

/** The last response on a connection. */
function responseIn(text: string): { status: number; head: string; body: unknown } {
  const [head = '', body = ''] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) };
}

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CLOSE = 'Connection: close\r\n';

const request = (line: string, fields = '', body = '') => `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;

test.for([
  ['bytes that are not HTTP', 'hello\r\n\r\n', 400, /malformed HTTP request: (?!Parse Error)./],
  [
    'a header section above 16 KiB',
    request('GET /livez', `A: ${'x'.repeat(20_000)}\r\n`),
    431,
    /fewer than 16384 bytes/,
  ],
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 400, /CONNECT is not supported/],
  ['no Host field', `GET /v1/pets HTTP/1.1\r\n${AUTHORIZATION}${CLOSE}\r\n`, 400, /one Host field/],
  ['two Host fields', request('GET /livez', `Host: y\r\n${CLOSE}`), 400, /one Host field/],
  ['a malformed Host field', `GET /livez HTTP/1.1\r\nHost: a b\r\n${CLOSE}\r\n`, 400, /one Host field/],
  ['a target without a host', request('GET http:///livez', CLOSE), 400, /target must be a path/],
  ['a target that is no path', request('OPTIONS *', CLOSE), 400, /target must be a path/],
  [
    'a malformed chunk',
    request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}${CHUNKED}`, 'hello\r\n'),
    400,
    /malformed HTTP request: (?!Parse Error)./,
  ],
] as const)(
  'rejects %s in the Error shape',
  async ([, bytes, status, message], { service: { raw, unexpectedErrors } }) => {
    const text = await raw(bytes);
    const response = responseIn(text);
    expect(response.head).toMatch(/^content-type: application\/json$/im);
    expect(response.head).toMatch(/^connection: close$/im);
    expect(response.head).toMatch(/^date: \w{3}, .* GMT$/im);
    expect(response.head).toMatch(/^x-request-id: [\da-f-]{36}$/im);
    expect(response.head).toMatch(/^x-content-type-options: nosniff$/im);
    expect(response).toMatchObject({
      status,
      body: { code: 'invalid_request', message: expect.stringMatching(message), status },
    });
    expect(unexpectedErrors).toEqual([]);
  },
);

test('rejects malformed bytes after the response to the request before them', async ({ service: { raw } }) => {
  const text = await raw(`${request('GET /livez')}hello\r\n\r\n`);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});

test('rejects a malformed body of a request that waits for its turn', async ({ shared: { raw } }) => {
  const malformed = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}${CHUNKED}`, 'hello\r\n');
  const text = await raw(request('GET /livez') + malformed);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});

test('closes the connection, without a second response, if the rest of a body that was rejected is malformed', async ({
  service: { port },
}) => {
  const socket = openSocket(port);
  socket.write(request('POST /v1/pets', `${JSON_TYPE}${CHUNKED}`, '1\r\nx\r\n'));
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
  const more: string[] = [];
  socket.on('data', (chunk) => more.push(String(chunk)));
  socket.write('hello\r\n');
  // Node itself would close it after 65 seconds.
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
  expect(more).toEqual([]);
});

test('serves a request with Upgrade, closes its connection, and reads nothing behind it', async ({ service }) => {
  const upgrade = `${AUTHORIZATION}Connection: Upgrade\r\nUpgrade: h2c\r\n`;
  const creation = request(
    'POST /v1/pets',
    `${AUTHORIZATION}${JSON_TYPE}Content-Length: 29\r\n`,
    '{"name":"Rex","categoryId":1}',
  );
  const text = await service.raw(request('GET /v1/pets', upgrade) + creation);
  expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200']);
  expect(text).toMatch(/^connection: close$/im);
  expect((await service.call('GET', '/v1/pets')).json).toEqual([]);
});

test('logs a rejection under the id that the client gets', async () => {
  const running = startProcess({ API_KEYS: KEY });
  const { raw } = await running.listens();
  const malformed = request(
    'POST /v1/pets',
    `${AUTHORIZATION}X-Request-Id: sent\r\n${JSON_TYPE}${CHUNKED}`,
    'hello\r\n',
  );
  expect(responseIn(await raw(malformed)).head).toMatch(/^x-request-id: sent$/im);
  const id = /^x-request-id: (\S+)$/im.exec(responseIn(await raw('hello\r\n\r\n')).head)?.[1];
  await running.says(new RegExp(`"status":400,.*"requestId":"${id}"`));
  expect(running.logged('request')).toMatchObject([
    { route: '/v1/pets', status: 400, requestId: 'sent' },
    { route: 'unparsable', status: 400, requestId: id },
  ]);
});

test.for([
  ['POST', `${AUTHORIZATION}${JSON_TYPE}`, 413],
  ['POST', JSON_TYPE, 401],
  ['PUT', AUTHORIZATION, 405],
  ['POST', `${AUTHORIZATION}Content-Type: text/plain\r\n`, 415],
] as const)(
  'an error response to %s (%j) with %d does not wait for the body',
  async ([method, fields, status], { service: { port } }) => {
    const socket = openSocket(port);
    socket.write(request(`${method} /v1/pets`, `${fields}Content-Length: 70000000\r\n`));
    expect(responseIn(String((await once(socket, 'data'))[0]))).toMatchObject({ status, body: { status } });
  },
);

/** Begins a body, and disconnects in one of two ways. */
function disconnect({ port }: Service, how: 'destroy' | 'end'): Promise<void> {
  const head = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}Content-Length: 100\r\n`, '{"name');
  const socket = openSocket(port).resume();
  socket.write(head, () => socket[how]());
  return new Promise((resolve) => socket.on('close', () => resolve()));
}

test('a client that disconnects in the middle of its body leaves no request in flight', async ({ service }) => {
  for (let count = 0; count < 20; count += 1) await disconnect(service, count % 2 === 0 ? 'destroy' : 'end');
  const { call, unexpectedErrors } = service;
  expect((await call('GET', '/v1/pets')).text).toBe('[]');
  const inFlight = async () => /^http_requests_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1];
  await expect.poll(inFlight).toBe('1');
  expect(unexpectedErrors).toEqual([]);
});

test('reads each of two thousand header fields', async ({ service: { port } }) => {
  const socket = openSocket(port);
  socket.write(request('GET /v1/pets', `${'a:1\r\n'.repeat(2_000)}${AUTHORIZATION}`));
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
});
