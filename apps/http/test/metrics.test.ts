import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, KEY, type Service, serviceAt, startService } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

/** The samples of a metric, by their labels. */
async function samples({ call }: Service, name: string): Promise<Map<string, number>> {
  const { status, headers, text } = await call('GET', '/metrics', { key: null });
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'));
  return new Map(Array.from(lines, ([, labels = '', value]) => [labels, Number(value)]));
}

describe('/metrics', () => {
  test('counts requests by method, route and status', async () => {
    const service = await startService();
    const { add, call } = service;
    await add({ name: 'Rex', categoryId: 1 });
    await add({});
    for (const path of ['/v1/pets', '/v1/pets?limit=2', '/v1/pets/1', '/v1/pets/x', '/v1/nothing'])
      await call('GET', path);
    await call('HEAD', '/v1/pets');
    await call('GET', '/v1/pets', { key: null });
    const counts = await samples(service, 'http_request_duration_seconds_count');
    const count = (method: string, route: string, status: number) =>
      counts.get(`method="${method}",route="${route}",status="${status}"`);
    expect(count('POST', '/v1/pets', 201)).toBe(1);
    expect(count('POST', '/v1/pets', 400)).toBe(1);
    expect(count('GET', '/v1/pets', 200)).toBe(2);
    expect(count('HEAD', '/v1/pets', 200)).toBe(1);
    expect(count('GET', '/v1/pets', 401)).toBe(1);
    expect(count('GET', '/v1/pets/:petId', 200)).toBe(1);
    expect(count('GET', '/v1/pets/:petId', 404)).toBe(1);
    expect(count('GET', 'unmatched', 404)).toBe(1);
    // The request for the metrics is itself in flight.
    expect([...(await samples(service, 'http_requests_in_flight'))]).toEqual([['', 1]]);
    expect((await samples(service, 'nodejs_eventloop_lag_seconds')).size).toBe(1);
    const storage = await samples(service, 'animal_store_storage_calls_total');
    expect(storage.get('operation="pets.add",outcome="ok"')).toBe(1);
    expect(storage.get('operation="pets.list",outcome="ok"')).toBe(3);
  });

  test('counts requests that are rejected before they have a route, and leaves none in flight', async () => {
    const service = await startService();
    await service.raw('GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n');
    await service.raw('hello\r\n\r\n');
    await service.raw('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n');
    const broken = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
    await service.raw(`${broken}Transfer-Encoding: chunked\r\n\r\nhello\r\n`);
    const counts = await samples(service, 'http_request_duration_seconds_count');
    expect(counts.get('method="GET",route="unmatched",status="400"')).toBe(1);
    expect(counts.get('method="other",route="unparsable",status="400"')).toBe(2);
    expect(counts.get('method="POST",route="/v1/pets",status="400"')).toBe(1);
    expect((await samples(service, 'http_requests_in_flight')).get('')).toBe(1);
  });

  test('labels known methods by name and others as "other", with durations in seconds', async () => {
    const service = await startService();
    const start = performance.now();
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'LOCK'])
      await service.call(method, '/v1/pets');
    const seconds = (performance.now() - start) / 1000;
    const counts = await samples(service, 'http_request_duration_seconds_count');
    for (const [method, count] of Object.entries({ PUT: 1, PATCH: 1, DELETE: 1, OPTIONS: 1, other: 2 })) {
      expect([method, counts.get(`method="${method}",route="unmatched",status="405"`)]).toEqual([method, count]);
    }
    const sums = await samples(service, 'http_request_duration_seconds_sum');
    const sum = [...sums].reduce((total, [labels, value]) => (labels.includes('405') ? total + value : total), 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(seconds);
  });

  test('creates no series for paths and methods that clients invent', async () => {
    const service = await startService();
    const sizeAfter = async (requests: number, start: number) => {
      for (let index = start; index < start + requests; index += 1) {
        await service.call('GET', `/nothing/${index}`, { key: null });
        await service.call('GET', `/v1/pets/${1_000_000 + index}`);
        await service.call(['PROPFIND', 'MKCOL', 'LOCK', 'M-SEARCH'][index % 4] as string, `/v1/${index}`);
      }
      return (await samples(service, 'http_request_duration_seconds_count')).size;
    };
    const size = await sizeAfter(8, 0);
    expect(await sizeAfter(40, 100)).toBe(size + 1);
    expect(await sizeAfter(40, 1_000)).toBe(size + 1);
  });

  test('say which version runs', async () => {
    const { call } = await startService();
    expect((await call('GET', '/metrics')).text).toContain('\nanimal_store_build_info{version="1.2.3"} 1\n');
  });

  test('serves no metrics if METRICS=off', async () => {
    const { call } = await startService({ METRICS: 'off' });
    expect((await call('GET', '/metrics', { key: null })).status).toBe(404);
  });

  test('logs and counts why requests are rejected with 503', async () => {
    const url = `mongodb://127.0.0.1:${await freePort()}/animals?serverSelectionTimeoutMS=100`;
    const running = startProcess({ API_KEYS: KEY, STORAGE: 'mongodb', MONGODB_URL: url, STOP_GRACE_SECONDS: '5' });
    const service = serviceAt(await listeningAt(running));
    for (const path of ['/v1/pets', '/v1/pets/1']) expect((await service.call('GET', path)).status).toBe(503);
    // The grace of a stop lasts while requests arrive.
    const ask = () => service.call('GET', '/livez', { key: null }).catch(() => {});
    const requests = setInterval(ask, 100);
    onTestFinished(() => clearInterval(requests));
    await ask();
    running.process.kill('SIGTERM');
    await running.says(/"stopping"/);
    expect((await service.call('GET', '/readyz', { key: null })).status).toBe(503);
    await running.says(/"route":"\/readyz","status":503,.*"reason":"stopping"/);
    expect(running.output.out).toMatch(/"route":"\/v1\/pets","status":503,.*"reason":"storage"/);
    const warnings = running.output.out.match(/^.*rejected with 503: the storage failed.*$/gm) ?? [];
    expect(warnings.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 40, times: 1, reason: expect.stringContaining('ECONNREFUSED') }),
    ]);
    const reasons = await samples(service, 'animal_store_unavailable_total');
    expect(Object.fromEntries(reasons)).toEqual({
      'reason="storage"': 2,
      'reason="overload"': 0,
      'reason="stopping"': 1,
    });
    expect((await samples(service, 'animal_store_storage_up')).get('')).toBe(0);
  });
});
