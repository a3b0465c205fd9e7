import { expect, test } from 'vitest';
import { errorLike, KEY, metric, startApp, waitingStorage } from './service.ts';

// Without sockets: a busy machine needs long to open a thousand.
test('rejects operations with 503 while more than 1,000 requests are in flight, serves probes, and recovers', async () => {
  const { storage, release } = waitingStorage();
  const service = startApp({}, { storage });
  const { add, call, logged } = service;
  // A body that has arrived counts no longer.
  expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  const statuses: number[] = [];
  const calls = Array.from({ length: 1_200 }, async () => {
    statuses.push((await call('GET', '/v1/pets')).status);
  });
  await expect.poll(() => statuses.length).toBe(200);
  expect(new Set(statuses.splice(0))).toEqual(new Set([503]));
  expect(await metric(service, 'http_requests_in_flight')).toBe(1_001);
  for (const key of [KEY, 'an-unknown-key-of-someone']) {
    const { status, headers, json } = await call('GET', '/v1/pets/7', { key });
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(json).toEqual(errorLike('service_unavailable', 503, /overloaded; retry after/));
    const reason = expect.stringMatching(/overloaded/);
    expect(logged.at(-1)).toMatchObject({ status: 503, error: 'service_unavailable', reason });
  }
  for (const path of ['/livez', '/readyz']) expect((await call('GET', path, { key: null })).status).toBe(200);
  expect(statuses).toEqual([]);
  release();
  await Promise.all(calls);
  expect([statuses.length, new Set(statuses)]).toEqual([1_000, new Set([200])]);
  expect((await call('GET', '/v1/pets/7')).status).toBe(404);
});

test('serves others while more than 1,000 requests wait for the rest of their bodies', async () => {
  const service = startApp();
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Buffer>();
  const request = { method: 'POST', clientAddress: null, readBody: () => arrived };
  const header = (name: string) => headers[name as keyof typeof headers];
  const create = async () => service.request('/v1/pets', { method: 'POST' }, { request: { ...request, header } });
  const creations: Promise<Response>[] = [];
  // Each counts until it waits for its body.
  for (const inFlight of [600, 1_200]) {
    while (creations.length < inFlight) creations.push(create());
    await expect.poll(() => metric(service, 'http_requests_in_flight')).toBe(inFlight + 1);
  }
  expect((await service.call('GET', '/v1/pets')).status).toBe(200);
  arrive(Buffer.from('{"name":"Rex","categoryId":1}'));
  expect(new Set((await Promise.all(creations)).map(({ status }) => status))).toEqual(new Set([201]));
});
