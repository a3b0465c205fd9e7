import { createMemoryStorage } from '@animal-store/adapter-memory';
import { expect, test } from 'vitest';
import { readConfiguration } from '../src/configuration.ts';
import { errorLike, KEY, openSocket, serve } from './service.ts';

test('rejects operations with 503 while more than 1,000 requests are in flight, serves probes, and recovers', async () => {
  const storage = createMemoryStorage();
  const { promise: available, resolve: recover } = Promise.withResolvers<void>();
  const list = async (...query: Parameters<typeof storage.pets.list>) => {
    await available;
    return storage.pets.list(...query);
  };
  const configuration = readConfiguration({ API_KEYS: KEY });
  const { port, add, call } = await serve({ configuration, storage: { ...storage, pets: { ...storage.pets, list } } });
  // A body that has arrived counts no longer.
  expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  const statuses: string[] = [];
  const request = `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
  for (let count = 0; count < 1_000; count += 1) {
    const socket = openSocket(port).on('data', (text) => statuses.push(text.toString('latin1', 9, 12)));
    socket.write(request);
  }
  const inFlight = async () => /^http_requests_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1];
  await expect.poll(inFlight).toBe('1001');
  for (const key of [KEY, 'an-unknown-key-of-someone']) {
    const { status, headers, json } = await call('GET', '/v1/pets/7', { key });
    expect([status, headers['retry-after'], json]).toEqual([
      503,
      '1',
      errorLike('service_unavailable', 503, /overloaded; retry after/),
    ]);
  }
  for (const path of ['/livez', '/readyz']) expect((await call('GET', path, { key: null })).status).toBe(200);
  expect(statuses).toEqual([]);
  recover();
  await expect.poll(() => statuses.length).toBe(1_000);
  expect(new Set(statuses)).toEqual(new Set(['200']));
  expect((await call('GET', '/v1/pets/7')).status).toBe(404);
});

test('serves others while more than 1,000 requests wait for the rest of their bodies', async () => {
  const configuration = readConfiguration({ API_KEYS: KEY });
  const { port, call } = await serve({ configuration, storage: createMemoryStorage() });
  const head = `Host: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n`;
  for (let count = 0; count < 1_005; count += 1) openSocket(port).write(`POST /v1/pets HTTP/1.1\r\n${head}\r\n`);
  const inFlight = async () => /^http_requests_in_flight (\d+)$/m.exec((await call('GET', '/metrics')).text)?.[1];
  await expect.poll(inFlight).toBe('1006');
  expect((await call('GET', '/v1/pets')).status).toBe(200);
});
