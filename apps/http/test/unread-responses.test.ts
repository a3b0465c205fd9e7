import { once } from 'node:events';
import { expect, test } from 'vitest';
import { KEY, openSocket, type Service } from './service.ts';
import { startProcess } from './service-process.ts';

const HEAD = `Host: a\r\nAuthorization: Bearer ${KEY}\r\n`;

async function memory({ call }: Service): Promise<number> {
  const { text } = await call('GET', '/metrics', { key: null });
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

/** How much the memory of a service grows, in bytes, while clients pipeline requests and read no response. */
async function growth(service: Service, connections: number, path: string): Promise<number> {
  const { status } = await service.call('GET', path);
  expect(status).toBe(200);
  const before = await memory(service);
  const sockets = Array.from({ length: connections }, () => openSocket(service.port).pause());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\n${HEAD}\r\n`.repeat(50));
  // Each request of these was read after those of the clients above.
  for (let count = 0; count < 20; count += 1) expect((await service.call('GET', '/v1/pets')).status).toBe(200);
  return (await memory(service)) - before;
}

test('holds one response for each of 100 clients that read nothing, and serves another', async () => {
  const service = await startProcess({ API_KEYS: KEY }).listens();
  for (let count = 0; count < 100; count += 1) await service.add({ name: '🐕'.repeat(200), categoryId: 1 });
  expect(await growth(service, 100, '/v1/pets?limit=100')).toBeLessThan(60_000_000);
});

test('shares the files of the documentation page among 30 clients that read nothing', async () => {
  const service = await startProcess({ API_KEYS: KEY }).listens();
  expect(await growth(service, 30, '/docs/swagger-ui-bundle.js')).toBeLessThan(60_000_000);
});

test.each([
  ['GET /docs/swagger-ui.css', 'Accept-Encoding: gzip\r\n'],
  ['GET /docs/swagger-ui-bundle.js', 'If-None-Match: *\r\n'],
  ['GET /metrics', ''],
])('serves a client while 400 others ask five times for %s (%j)', async (line, fields) => {
  const service = await startProcess({ API_KEYS: KEY }).listens();
  const sockets = Array.from({ length: 400 }, () => openSocket(service.port).resume());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(`${line} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`.repeat(5));
  for (let count = 0; count < 5; count += 1) {
    const signal = AbortSignal.timeout(5_000);
    const headers = { authorization: `Bearer ${KEY}` };
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/pets`, { headers, signal });
    expect([response.status, await response.json()]).toEqual([200, []]);
  }
});
