import { once } from 'node:events';
import { describe, expect } from 'vitest';
import { KEY, openSocket, startService, test } from './service.ts';
import { startProcess } from './service-process.ts';

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const REX = '{"name":"Rex","categoryId":1}';

/** Sends a request, and reads nothing before all of it is sent. Resolves to all that comes back until the connection closes. */
async function sendThenRead(port: number, head: string, body: Buffer): Promise<string> {
  const socket = openSocket(port);
  socket.write(head);
  await new Promise((resolve) => socket.write(body, resolve));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

const length = (bytes: number) => `Content-Length: ${bytes}\r\n`;

describe('a client that reads only after it has sent 5 MB', () => {
  const BODY = Buffer.alloc(5_000_000, ' ');
  const fields = (more: string) => `Host: x\r\n${more}${length(BODY.length)}`;

  test.for([
    ['401', 'POST /v1/pets HTTP/1.1', `${JSON_TYPE}Connection: close\r\n`],
    ['404', 'POST /v1/x HTTP/1.1', `${AUTHORIZATION}Connection: close\r\n`],
    ['404', 'POST /x HTTP/1.1', 'Connection: close\r\n'],
    ['405', 'PUT /v1/pets HTTP/1.1', `${AUTHORIZATION}Connection: close\r\n`],
    ['413', 'POST /v1/pets HTTP/1.1', `${AUTHORIZATION}${JSON_TYPE}Connection: close\r\n`],
    ['413', 'POST /v1/pets HTTP/1.0', AUTHORIZATION + JSON_TYPE],
    ['415', 'POST /v1/pets HTTP/1.1', `${AUTHORIZATION}Connection: Close\r\n`],
    ['400', 'POST /v1/pets HTTP/1.1', `Host: y\r\nConnection: close\r\n`],
    ['405', 'PUT /v1/pets HTTP/1.1', `${AUTHORIZATION}Connection: upgrade\r\nUpgrade: x\r\n`],
    ['200', 'GET /docs HTTP/1.1', 'Connection: close\r\n'],
  ] as const)('gets the %s of %s (%j), which closes the connection', async ([status, line, more], { service }) => {
    const text = await sendThenRead(service.port, `${line}\r\n${fields(more)}\r\n`, BODY);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toMatch(/^connection: close$/im);
  });

  test('gets the 413 of a body in chunks', async ({ service: { port } }) => {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}Connection: close\r\n`;
    const chunks = Buffer.from(`1000\r\n${' '.repeat(4_096)}\r\n`.repeat(1_500));
    const text = await sendThenRead(port, `${head}Transfer-Encoding: chunked\r\n\r\n`, chunks);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('gets the 429 of a holder without quota', async () => {
    const { port, call } = await startService({ RATE_LIMIT: '1' });
    await call('GET', '/v1/pets');
    const head = `POST /v1/pets HTTP/1.1\r\n${fields(`${AUTHORIZATION}Connection: close\r\n`)}\r\n`;
    expect(await sendThenRead(port, head, BODY)).toMatch(/^HTTP\/1\.1 429 /);
  });

  test('gets its 401 in the grace of a stop', async () => {
    const running = startProcess({ API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory' });
    const { port } = await running.listens();
    running.process.kill('SIGTERM');
    await running.says(/"stopping"/);
    const head = `POST /v1/pets HTTP/1.1\r\n${fields(JSON_TYPE)}\r\n`;
    expect(await sendThenRead(port, head, BODY)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

test('closes the connection of a client that never ends its body, after the response', async ({
  service: { port },
}) => {
  const socket = openSocket(port);
  const closed = once(socket, 'close');
  socket.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\n${length(100)}Connection: close\r\n\r\n{`);
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
  await closed;
});

describe('a client that expects 100 Continue', () => {
  const CONTINUE = 'Expect: 100-continue\r\n';
  const head = (line: string, more: string) => `${line} HTTP/1.1\r\nHost: x\r\n${CONTINUE}${more}\r\n`;

  test.for([
    ['401', 'POST /v1/pets', JSON_TYPE + length(29)],
    ['413', 'POST /v1/pets', AUTHORIZATION + JSON_TYPE + length(65_537)],
    ['415', 'POST /v1/pets', AUTHORIZATION + length(29)],
    ['405', 'PUT /v1/pets', AUTHORIZATION + length(29)],
    ['404', 'POST /x', length(29)],
    ['400', 'POST /v1/pets', `Host: y\r\n${AUTHORIZATION}${JSON_TYPE}${length(29)}`],
  ] as const)('gets %s alone for %s (%j), before it sends the body', async ([status, line, more], { service }) => {
    const socket = openSocket(service.port);
    socket.write(head(line, more));
    expect(String((await once(socket, 'data'))[0]).match(/^HTTP\/1\.1 \d+/gm)).toEqual([`HTTP/1.1 ${status}`]);
  });

  test('gets it when the body is wanted', async ({ service: { port } }) => {
    const socket = openSocket(port);
    socket.write(head('POST /v1/pets', AUTHORIZATION + JSON_TYPE + length(REX.length)));
    expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(REX);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /);
  });

  test('gets the response after the body if it did not wait', async ({ service: { port } }) => {
    const body = Buffer.alloc(5_000_000, ' ');
    const text = await sendThenRead(port, head('POST /v1/pets', JSON_TYPE + length(body.length)), body);
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 401']);
  });

  test('gets a 401 that closes the connection, and nothing behind it is executed', async ({ service }) => {
    const creation = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}${JSON_TYPE}${length(REX.length)}\r\n${REX}`;
    const text = await service.raw(head('POST /v1/pets', JSON_TYPE + length(REX.length)) + REX + creation);
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 401']);
    expect((await service.call('GET', '/v1/pets')).json).toEqual([]);
  });

  test('gets 201 for a body that it sends at once', async ({ service: { raw } }) => {
    const fields = `${AUTHORIZATION}${JSON_TYPE}${length(REX.length)}Connection: close\r\n`;
    expect((await raw(head('POST /v1/pets', fields) + REX)).match(/^HTTP\/1\.1 \d+/gm)).toEqual([
      'HTTP/1.1 100',
      'HTTP/1.1 201',
    ]);
  });
});

test('a client that expects anything else than 100 Continue is served as if it expected nothing', async ({
  service,
}) => {
  const fields = `Host: x\r\nExpect: 200-ok\r\n${AUTHORIZATION}${JSON_TYPE}${length(REX.length)}Connection: close\r\n`;
  const text = await service.raw(`POST /v1/pets HTTP/1.1\r\n${fields}\r\n${REX}`);
  expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 201']);
});
