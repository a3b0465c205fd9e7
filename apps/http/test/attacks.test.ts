import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished } from 'vitest';
import {
  AUTHORIZATION,
  CLOSE,
  JSON_TYPE,
  KEY,
  length,
  metric,
  openSocket,
  request,
  type Service,
  statusesIn,
  test,
  untilClosed,
} from './service.ts';
import { startProcess } from './service-process.ts';

const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const PLAIN = fileURLToPath(new URL('plain-server.ts', import.meta.url));

const creation = (fields: string, body = '') => request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + fields, body);

/** Connections that are open. */
async function open({ port }: Service, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => openSocket(port));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

test.for<[string, string]>([
  ['2,000 requests without waiting for a response', request('GET /v1/pets', AUTHORIZATION).repeat(2_000)],
  ['a body in 60,000 chunks of one byte', creation(CHUNKED, `${'1\r\n \r\n'.repeat(60_000)}0\r\n\r\n`)],
])('serves others while 20 connections send %s, which are closed', async ([, bytes], { service }) => {
  const sockets = await open(service, 20);
  let isOver = false;
  const attack = Promise.all(sockets.map(untilClosed)).finally(() => {
    isOver = true;
  });
  for (const socket of sockets) socket.write(bytes);
  do {
    expect((await service.call('GET', '/v1/pets')).status).toBe(200);
    // They are closed although they are never inactive.
    for (const socket of sockets) socket.write(request('GET /livez'));
  } while (!isOver);
  for (const text of await attack) expect(statusesIn(text).length).toBeLessThanOrEqual(50);
  expect((await service.call('GET', '/v1/pets')).json).toEqual([]);
});

test('serves others when clients reset their connections at any point', async ({ service }) => {
  for (const bytes of [
    'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n',
    request('GET /v1/pets', `${AUTHORIZATION}Connection: Upgrade\r\nUpgrade: x\r\n`),
    'hello\r\n\r\n',
    creation(length(30), '{'),
  ]) {
    for (const socket of await open(service, 5)) {
      socket.write(bytes);
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
  }
  expect((await service.call('GET', '/v1/pets')).status).toBe(200);
});

test('closes a connection that goes on sending after malformed bytes', async ({ service: { port } }) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const send = () => socket.write('hello\r\n', (error) => !error && setImmediate(send));
  send();
  expect(statusesIn(await untilClosed(socket))).toEqual([400]);
});

test('responds to a slow client with 408: after 10 s within its header section, after 30 s within its body', async ({
  service,
}) => {
  const secondsUntil408 = async (bytes: string) => {
    const begin = performance.now();
    const socket = openSocket(service.port);
    socket.write(bytes);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 .*"code":"invalid_request".*"status":408\}$/s);
    return Math.floor((performance.now() - begin) / 1_000);
  };
  const [header, ...bodies] = await Promise.all([
    secondsUntil408('GET /v1/pets HTTP/1.1\r\nHost: a\r\n'),
    secondsUntil408(creation(length(100), '{')),
    secondsUntil408(creation(`Connection: Upgrade\r\nUpgrade: x\r\n${length(100)}`, '{')),
  ]);
  expect(header).toBeGreaterThanOrEqual(10);
  expect(header).toBeLessThan(30);
  for (const body of bodies) expect(body).toBeGreaterThanOrEqual(30);
  const counted = 'http_request_duration_seconds_count{method="POST",route="/v1/pets",status="408"}';
  await expect.poll(() => metric(service, counted)).toBe(2);
  expect(service.logged.filter(({ method }) => method === 'POST')).toHaveLength(2);
});

/** A service whose memory and time are its own. */
const startAlone = (): Promise<Service> => startProcess({ API_KEYS: KEY }).listens();

describe('in a heap of 100 MB', () => {
  const PAGE = '/v1/pets?limit=100';
  const askForPages = (count: number) => request(`GET ${PAGE}`, AUTHORIZATION).repeat(count);

  /** A process whose pages have 124 kB: JSON has six characters for each of a name. */
  async function startSmall(options = {}) {
    const running = startProcess({ API_KEYS: KEY, NODE_OPTIONS: '--max-old-space-size=100' }, options);
    const service = await running.listens();
    for (let pets = 0; pets < 100; pets += 1) await service.add({ name: '\u0001'.repeat(200), categoryId: 1 });
    return { ...running, ...service };
  }

  test.for<[string, number, string]>([
    ['100 clients ask 50 times for a page', 100, askForPages(50)],
    ['20 clients ask 5,000 times for a page', 20, askForPages(5_000)],
    ['20 clients send 60,000 chunks of one byte', 20, creation(CHUNKED, '1\r\n \r\n'.repeat(60_000))],
  ])('serves others while %s and read nothing; the plain platform ends', async ([, clients, bytes]) => {
    const [service, plain] = [await startSmall(), await startSmall({ program: PLAIN })];
    for (const attacked of [service, plain]) {
      for (const socket of await open(attacked, clients)) socket.pause().write(bytes);
    }
    for (let pages = 0; pages < 100; pages += 1) expect((await service.call('GET', PAGE)).status).toBe(200);
    await plain.exit;
    expect(plain.output.err).toContain('JavaScript heap out of memory');
  });
});

test('takes little memory for 40 clients that ask 50 times for a file that they have, and read nothing', async () => {
  const service = await startAlone();
  const path = '/docs/swagger-ui-bundle.js';
  const { etag } = (await service.call('GET', path)).headers;
  const memory = () => metric(service, 'process_resident_memory_bytes');
  const before = await memory();
  for (const socket of await open(service, 40)) {
    socket.pause().write(request(`GET ${path}`, `If-None-Match: ${etag}\r\n`).repeat(50));
  }
  const served = `http_request_duration_seconds_count{method="GET",route="${path}",status="304"}`;
  await expect.poll(() => metric(service, served)).toBe(40 * 50);
  expect((await memory()) - before).toBeLessThan(100_000_000);
});

test('spends less than 5 ms of CPU time on each request of anyone', async () => {
  const service = await startAlone();
  const seconds = () => metric(service, 'process_cpu_seconds_total');
  for (const [path, fields] of [
    ['/docs/swagger-ui.css', 'Accept-Encoding: gzip\r\n'],
    ['/docs/swagger-ui-bundle.js', 'If-None-Match: *\r\n'],
    ['/metrics', ''],
  ] as const) {
    const before = await seconds();
    const clients = (await open(service, 100)).map((socket) => {
      socket.write(request(`GET ${path}`, fields).repeat(9) + request(`GET ${path}`, fields + CLOSE));
      return untilClosed(socket);
    });
    await Promise.all(clients);
    expect((await seconds()) - before, path).toBeLessThan(5);
  }
});
