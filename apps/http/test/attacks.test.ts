import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
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

const creation = (fields: string, body = '') => request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + fields, body);

/** Connections that are open. */
async function open({ port }: Service, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => openSocket(port));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

test.for<[string, string]>([
  ['2,000 requests without waiting for a response', request('GET /v1/pets', AUTHORIZATION).repeat(2_000)],
  [
    'a body in 60,000 chunks of one byte',
    creation('Transfer-Encoding: chunked\r\n', `${'1\r\n \r\n'.repeat(60_000)}0\r\n\r\n`),
  ],
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
  const counted = 'http_request_duration_seconds_count{method="POST",route="unmatched",status="408"}';
  expect(await metric(service, counted)).toBe(2);
});

/** A service whose memory and time are its own. */
const startAlone = (): Promise<Service> => startProcess({ API_KEYS: KEY }).listens();

test('holds one response for each client that asks 50 times for a large one and reads nothing', async () => {
  const service = await startAlone();
  for (let pets = 0; pets < 100; pets += 1) await service.add({ name: '🐕'.repeat(200), categoryId: 1 });
  const memory = () => metric(service, 'process_resident_memory_bytes');
  for (const [path, clients] of [
    ['/v1/pets?limit=100', 100],
    ['/docs/swagger-ui-bundle.js', 50],
  ] as const) {
    expect((await service.call('GET', path)).status).toBe(200);
    const before = await memory();
    for (const socket of await open(service, clients)) {
      socket.pause().write(request(`GET ${path}`, AUTHORIZATION).repeat(50));
    }
    // Others are served. What was handed to the system is garbage, of which a busy machine keeps more.
    for (let pages = 0; pages < 100; pages += 1) {
      expect((await service.call('GET', '/v1/pets?limit=100')).status).toBe(200);
    }
    expect((await memory()) - before, path).toBeLessThan(250_000_000);
  }
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
