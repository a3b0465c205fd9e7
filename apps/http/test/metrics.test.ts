import { DomainError } from '@animal-store/domain';
import { expect } from 'vitest';
import { failingStorage, metric, startApp, startService, test } from './service.ts';

test('counts requests by method, route and status, calls of the storage, and what is in flight', async ({
  service,
}) => {
  const { add, call } = service;
  const begin = performance.now();
  await add({ name: 'Rex', categoryId: 1 });
  await add({});
  for (const path of ['/v1/pets', '/v1/pets?limit=2', '/v1/pets/1', '/v1/pets/x', '/v1/nothing', '/x']) {
    await call('GET', path);
  }
  await call('HEAD', '/v1/pets');
  await call('GET', '/v1/pets', { key: null });
  for (const method of ['PUT', 'PROPFIND']) await call(method, '/v1/pets');
  const seconds = (performance.now() - begin) / 1_000;
  const { status, headers, text } = await call('GET', '/metrics', { key: null });
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const samples = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, ...groups]) => groups.join(' '));
  const counts = samples(/^http_request_duration_seconds_count\{method="(.+)",route="(.+)",status="(.+)"\} (\d+)$/gm);
  expect(counts.sort()).toEqual([
    'GET /v1/pets 200 2',
    'GET /v1/pets 401 1',
    'GET /v1/pets/:petId 200 1',
    'GET /v1/pets/:petId 404 1',
    'GET unmatched 404 2',
    'HEAD /v1/pets 200 1',
    'POST /v1/pets 201 1',
    'POST /v1/pets 400 1',
    'PROPFIND unmatched 405 1',
    'PUT unmatched 405 1',
  ]);
  const sum = samples(/^http_request_duration_seconds_sum\{.*\} (\S+)$/gm).reduce(
    (total, one) => total + Number(one),
    0,
  );
  expect(sum).toBeGreaterThan(0);
  expect(sum).toBeLessThan(seconds);
  expect(samples(/^storage_call_duration_seconds_count\{operation="(.+)",outcome="(.+)"\} (\d+)$/gm).sort()).toEqual([
    'pets.add ok 1',
    'pets.find ok 1',
    'pets.list ok 3',
  ]);
  // The request for the metrics is itself in flight.
  for (const sample of ['http_requests_in_flight 1', 'storage_up 1', 'animal_store_build_info{version="1.2.3"} 1']) {
    expect(text).toContain(`\n${sample}\n`);
  }
});

test('counts defects and failed calls of the storage from zero, also in tools of MCP', async () => {
  const { storage, failure } = failingStorage();
  const app = startApp({}, { storage });
  const call = () =>
    app.call('POST', '/mcp', {
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_pets"}}',
    });
  const counts = () =>
    Promise.all(
      [
        'internal_errors_total',
        ...['unavailable', 'error'].map((outcome) => `storage_call_failures_total{outcome="${outcome}"}`),
      ].map((name) => metric(app, name)),
    );
  expect(await counts()).toEqual([0, 0, 0]);
  failure.with = new DomainError('storage_unavailable', 'try again');
  expect((await app.call('GET', '/v1/pets')).status).toBe(503);
  expect((await call()).status).toBe(200);
  expect(await counts()).toEqual([0, 2, 0]);
  failure.with = new TypeError('a defect');
  expect((await app.call('GET', '/v1/pets')).status).toBe(500);
  expect((await call()).status).toBe(200);
  expect(await counts()).toEqual([2, 2, 2]);
});

test('two services of one process share neither pets, quotas, metrics nor their end', async () => {
  const first = await startService({ RATE_LIMIT: '3' });
  const second = await startService({ RATE_LIMIT: '3', BASE_PATH: '/second/v1' });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await first.add({ name: 'Rex', categoryId: 1 })).status);
  expect(statuses).toEqual([201, 201, 201, 429]);
  const { status, text, headers } = await second.call('GET', '/second/v1/pets');
  expect([status, text, headers['ratelimit']]).toEqual([200, '[]', expect.stringContaining('r=2;')]);
  const [one, other] = [await first.call('GET', '/metrics'), await second.call('GET', '/metrics')];
  expect(one.text).toMatch(/^http_request_duration_seconds_count\{method="POST",.*status="201"\} 3$/m);
  expect(other.text).not.toContain('method="POST"');
  await first.stop();
  await expect(first.call('GET', '/livez')).rejects.toThrow(/ECONNREFUSED/);
  expect((await second.call('GET', '/second/v1/pets')).status).toBe(200);
});
