import { expect, test } from 'vitest';
import {
  AUTHORIZATION,
  errorLike,
  JSON_TYPE,
  KEY,
  length,
  metric,
  openSocket,
  request,
  startService,
  statusesIn,
  waitingStorage,
} from './service.ts';

test('rejects operations with 503 while more than 1,000 requests are in flight, serves probes, and recovers', async () => {
  const { storage, release } = waitingStorage();
  const service = await startService({}, { storage });
  const { port, add, call } = service;
  // A body that has arrived counts no longer.
  expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  const statuses: number[] = [];
  for (let count = 0; count < 1_200; count += 1) {
    const socket = openSocket(port).on('data', (text) => statuses.push(...statusesIn(String(text))));
    socket.write(request('GET /v1/pets', AUTHORIZATION));
  }
  await expect.poll(() => statuses.length).toBe(200);
  expect(new Set(statuses.splice(0))).toEqual(new Set([503]));
  expect(await metric(service, 'http_requests_in_flight')).toBe(1_001);
  for (const key of [KEY, 'an-unknown-key-of-someone']) {
    const { status, headers, json } = await call('GET', '/v1/pets/7', { key });
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(json).toEqual(errorLike('service_unavailable', 503, /overloaded; retry after/));
    const reason = expect.stringMatching(/overloaded/);
    expect(service.logged.at(-1)).toMatchObject({ status: 503, error: 'service_unavailable', reason });
  }
  for (const path of ['/livez', '/readyz']) expect((await call('GET', path, { key: null })).status).toBe(200);
  expect(statuses).toEqual([]);
  release();
  await expect.poll(() => statuses.length).toBe(1_000);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect((await call('GET', '/v1/pets/7')).status).toBe(404);
});

test('serves others while more than 1,000 requests wait for the rest of their bodies', async () => {
  const service = await startService();
  const head = request('POST /v1/pets', AUTHORIZATION + JSON_TYPE + length(9));
  for (let count = 0; count < 1_005; count += 1) openSocket(service.port).write(head);
  await expect.poll(() => metric(service, 'http_requests_in_flight')).toBe(1_006);
  expect((await service.call('GET', '/v1/pets')).status).toBe(200);
});
