import { once } from 'node:events';
import { expect, test } from 'vitest';
import { KEY, openSocket, type Service } from './service.ts';
import { startProcess } from './service-process.ts';

const HEAD = `Host: a\r\nAuthorization: Bearer ${KEY}\r\n`;

/** A metric of the process of a service. */
async function metric({ call }: Service, name: string): Promise<number> {
  const { text } = await call('GET', '/metrics', { key: null });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const memory = (service: Service) => metric(service, 'process_resident_memory_bytes');

/** Connections that are open. */
async function connect({ port }: Service, count: number) {
  const sockets = Array.from({ length: count }, () => openSocket(port));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

test.each([
  [100, 'a page of 100 pets', '/v1/pets?limit=100'],
  [50, 'the largest file', '/docs/swagger-ui-bundle.js'],
])('holds one response for each of %d clients that ask 50 times for %s and read nothing', async (count, _, path) => {
  const service = await startProcess({ API_KEYS: KEY }).listens();
  for (let pets = 0; pets < 100; pets += 1) await service.add({ name: '🐕'.repeat(200), categoryId: 1 });
  expect((await service.call('GET', path)).status).toBe(200);
  const before = await memory(service);
  for (const socket of await connect(service, count)) {
    socket.pause().write(`GET ${path} HTTP/1.1\r\n${HEAD}\r\n`.repeat(50));
  }
  // Others are served. What was handed to the system is garbage, of which a busy machine keeps more.
  for (let pages = 0; pages < 100; pages += 1)
    expect((await service.call('GET', '/v1/pets?limit=100')).status).toBe(200);
  expect((await memory(service)) - before).toBeLessThan(250_000_000);
});

test.each([
  ['/docs/swagger-ui.css', 'Accept-Encoding: gzip\r\n'],
  ['/docs/swagger-ui-bundle.js', 'If-None-Match: *\r\n'],
  ['/metrics', ''],
])('spends less than 5 ms of CPU time on each request of anyone for %s (%j)', async (path, fields) => {
  const service = await startProcess({ API_KEYS: KEY }).listens();
  const before = await metric(service, 'process_cpu_seconds_total');
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
  const clients = (await connect(service, 100)).map(async (socket) => {
    socket.resume().write(request.repeat(9) + request.replace('Host', 'Connection: close\r\nHost'));
    await once(socket, 'close');
  });
  await Promise.all(clients);
  expect((await metric(service, 'process_cpu_seconds_total')) - before).toBeLessThan(5);
});
