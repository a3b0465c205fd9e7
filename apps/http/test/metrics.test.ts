import { expect } from 'vitest';
import { freePort, KEY, type Service, test } from './service.ts';
import { startProcess } from './service-process.ts';

/** The samples of a metric, by their labels. */
async function samples({ call }: Service, name: string): Promise<Map<string, number>> {
  const { status, headers, text } = await call('GET', '/metrics', { key: null });
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'));
  return new Map(Array.from(lines, ([, labels = '', value]) => [labels, Number(value)]));
}

/** How many requests had a response, by method, route and status. */
async function counts(service: Service): Promise<Record<string, number>> {
  const counted = await samples(service, 'http_request_duration_seconds_count');
  const labels = /^method="(.+)",route="(.+)",status="(.+)"$/;
  return Object.fromEntries([...counted].map(([text, count]) => [text.replace(labels, '$1 $2 $3'), count]));
}

test('counts requests by method, route and status, with durations in seconds', async ({ service }) => {
  const { add, call } = service;
  const start = performance.now();
  await add({ name: 'Rex', categoryId: 1 });
  await add({});
  for (const path of ['/v1/pets', '/v1/pets?limit=2', '/v1/pets/1', '/v1/pets/x', '/v1/pets/2', '/v1/nothing', '/x'])
    await call('GET', path);
  await call('HEAD', '/v1/pets');
  await call('GET', '/v1/pets', { key: null });
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'LOCK']) await call(method, '/v1/pets');
  const seconds = (performance.now() - start) / 1000;
  expect(await counts(service)).toEqual({
    'POST /v1/pets 201': 1,
    'POST /v1/pets 400': 1,
    'GET /v1/pets 200': 2,
    'HEAD /v1/pets 200': 1,
    'GET /v1/pets 401': 1,
    'GET /v1/pets/:petId 200': 1,
    'GET /v1/pets/:petId 404': 2,
    'GET unmatched 404': 2,
    'PUT unmatched 405': 1,
    'PATCH unmatched 405': 1,
    'DELETE unmatched 405': 1,
    'OPTIONS unmatched 405': 1,
    'PROPFIND unmatched 405': 1,
    'LOCK unmatched 405': 1,
  });
  const sums = await samples(service, 'http_request_duration_seconds_sum');
  const sum = [...sums].reduce((total, [labels, value]) => (labels.includes('/metrics') ? total : total + value), 0);
  expect(sum).toBeGreaterThan(0);
  expect(sum).toBeLessThan(seconds);
  // The request for the metrics is itself in flight.
  expect([...(await samples(service, 'http_requests_in_flight'))]).toEqual([['', 1]]);
  expect((await samples(service, 'nodejs_eventloop_lag_seconds')).size).toBe(1);
  const storage = await samples(service, 'storage_call_duration_seconds_count');
  expect(storage.get('operation="pets.add",outcome="ok"')).toBe(1);
  expect(storage.get('operation="pets.list",outcome="ok"')).toBe(3);
  expect((await call('GET', '/metrics')).text).toContain('\nanimal_store_build_info{version="1.2.3"} 1\n');
});

test('counts requests that are rejected before they have a route, and leaves none in flight', async ({ service }) => {
  await service.raw('GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n');
  await service.raw('hello\r\n\r\n');
  await service.raw('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n');
  const broken = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
  await service.raw(`${broken}Transfer-Encoding: chunked\r\n\r\nhello\r\n`);
  expect(await counts(service)).toEqual({
    'GET unmatched 400': 1,
    '- unparsable 400': 2,
    'POST /v1/pets 400': 1,
  });
  expect((await samples(service, 'http_requests_in_flight')).get('')).toBe(1);
});

test('counts no rejection of bytes behind a response that closes the connection', async ({ service }) => {
  await service.raw('GET /livez HTTP/1.1\r\nHost: x\r\nProxy-Connection: close\r\n\r\nhello\r\n\r\n');
  expect(await counts(service)).toEqual({ 'GET /livez 200': 1 });
});

test('says whether the storage is available, and how calls of it end', async () => {
  const nowhere = await freePort();
  const url = `mongodb://127.0.0.1:${nowhere}/animals?serverSelectionTimeoutMS=100`;
  const running = startProcess({ API_KEYS: KEY, STORAGE: 'mongodb', MONGODB_URL: url });
  const service = await running.listens();
  for (const path of ['/v1/pets', '/v1/pets/1']) expect((await service.call('GET', path)).status).toBe(503);
  const calls = await samples(service, 'storage_call_duration_seconds_count');
  expect([...calls]).toEqual([
    ['operation="pets.list",outcome="unavailable"', 1],
    ['operation="pets.find",outcome="unavailable"', 1],
  ]);
  expect((await samples(service, 'storage_up')).get('')).toBe(0);
  // One warning for both requests, and a line for each.
  await expect.poll(() => running.logged('request').map(({ status }) => status)).toEqual([503, 503]);
  const warnings = running.logged('requests are rejected with 503: the storage failed');
  expect(warnings).toEqual([expect.objectContaining({ level: 40, reason: expect.stringContaining('ECONNREFUSED') })]);
});
