import { createMemoryStorage } from '@animal-store/adapter-memory';
import { DomainError } from '@animal-store/domain';
import { expect, vi } from 'vitest';
import { failingStorage, metric, startApp, test } from '../../test/service.ts';
import { createMetrics } from './metrics.ts';

test('counts requests by method, route and status, calls of the storage, and what is in flight', async ({
  app: { add, call },
}) => {
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
    '_OTHER unmatched 405 2',
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

test('a call of the storage that can not be recorded has its own outcome, and the defect is reported', async () => {
  const defect = new Error('a defect of an observer');
  const storageCheck = {
    get outage(): string | null {
      throw defect;
    },
    check: async () => null,
    recheck() {},
  };
  const onError = vi.fn();
  const zero = () => 0;
  const options = { version: { version: '1.0.0' }, inFlight: zero, droppedLines: zero };
  const { pets } = createMetrics({ ...options, storageCheck, onError }).instrument(createMemoryStorage());
  expect(await pets.find(1n)).toBeNull();
  expect(onError).toHaveBeenCalledExactlyOnceWith(defect);
});
