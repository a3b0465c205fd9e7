import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { DomainError } from '@animal-store/domain';
import type { PetSelection, PetStorage, PetStore } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { beginExchange } from '../src/http/exchange.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { freePort, KEY, OTHER_KEY, type Service, serviceAt, startService } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('returns the X-Request-Id of the request if it is well-formed, else a new one', async () => {
  const { call } = await startService();
  const idOf = async (given?: string) => {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    return String((await call('GET', '/v1/pets', { headers })).headers['x-request-id']);
  };
  for (const given of [
    'x',
    '1234',
    '6f1c7f6e-4f0b-4f0e-9a52-0d6c2b9f1f5e',
    'Root=1-67891233-abcdef012345678912345678',
    'a.b:c/d+e=f@g-h_i',
    'x'.repeat(128),
  ]) {
    expect(await idOf(given)).toBe(given);
  }
  for (const given of [undefined, '', 'a b', '"', '{}', '\u00e9', 'x'.repeat(129), 'a,b']) {
    expect(await idOf(given)).toMatch(UUID);
  }
  expect(await idOf()).not.toBe(await idOf());
  for (const path of ['/livez', '/nothing', '/v1/nothing']) {
    expect((await call('GET', path, { key: null })).headers['x-request-id']).toMatch(UUID);
  }
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

test.each([
  [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
  [`00-${TRACE_ID}-00f067aa0ba902b7-00`, TRACE_ID],
  // Of a later version only the beginning is known.
  [`cc-${TRACE_ID}-00f067aa0ba902b7-01-what-comes`, TRACE_ID],
  [`00-${TRACE_ID}-00f067aa0ba902b7-01-what-comes`, null],
  [`ff-${TRACE_ID}-00f067aa0ba902b7-01`, null],
  [`cc-${TRACE_ID}-00f067aa0ba902b7-01x`, null],
  [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, null],
  [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, null],
  [`00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`, null],
  [`00-${TRACE_ID}-00f067aa0ba902b7`, null],
  [`x00-${TRACE_ID}-00f067aa0ba902b7-01`, null],
  ['', null],
])('reads the traceparent %j as the trace id %j', (traceparent, traceId) => {
  expect(beginExchange({ traceparent }, 'GET', '/v1/pets', {}).traceId).toBe(traceId);
});

test('sends the security header fields with every response', async () => {
  const { add, call, raw } = await startService();
  const answers = [
    await add({ name: 'Rex', categoryId: 1 }),
    await call('GET', '/v1/pets'),
    await call('GET', '/v1/pets/1'),
    await call('GET', '/v1/pets', { key: null }),
    await call('DELETE', '/v1/pets'),
    await call('GET', '/livez'),
    await call('GET', '/openapi.json'),
    await call('GET', '/metrics'),
    await call('GET', '/nothing'),
  ];
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  }
  for (const bytes of ['hello\r\n\r\n', 'GET /livez HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n']) {
    expect(await raw(bytes)).toMatch(/x-content-type-options: nosniff\r\n/);
  }
});

/** The samples of a metric, by their labels. */
async function samples({ call }: Service, name: string): Promise<Map<string, number>> {
  const { status, headers, text } = await call('GET', '/metrics', { key: null });
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'));
  return new Map(Array.from(lines, ([, labels = '', value]) => [labels, Number(value)]));
}

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

test('renders the metrics once for concurrent requests, and anew for later ones', async () => {
  const { countUnexpectedError, read } = createMetrics({ logLinesLost: () => 0, dropReasons: [] });
  const [one, other] = await Promise.all([read(), read()]);
  expect(other).toBe(one);
  countUnexpectedError();
  expect((await read()).body).toMatch(/^animal_store_internal_errors_total 1$/m);
});

test('counts the calls of a storage whose methods are on a prototype', async () => {
  const memory = createMemoryStorage();
  class Pets implements PetStore {
    add(...given: Parameters<PetStore['add']>) {
      return memory.pets.add(...given);
    }
    find(id: bigint) {
      return memory.pets.find(id);
    }
    list(selection: PetSelection) {
      return memory.pets.list(selection);
    }
  }
  class Adapter implements PetStorage {
    readonly pets = new Pets();
    readonly keys = memory.keys;
    readonly location = 'here';
    #closed = false;
    ready() {
      if (this.#closed) throw new DomainError('storage_unavailable', 'closed');
    }
    close() {
      this.#closed = true;
    }
    async [Symbol.asyncDispose]() {
      this.close();
    }
  }
  const { observed, read } = createMetrics({ logLinesLost: () => 0, dropReasons: [] });
  const storage = observed(new Adapter());
  expect(await storage.pets.find(1n)).toBeNull();
  expect((await read()).body).toContain('animal_store_storage_calls_total{operation="pets.find",outcome="ok"} 1');
  await storage.ready();
  await storage.close();
  expect(() => storage.ready()).toThrow('closed');
});

test('counts calls of the storage by outcome, and passes on results and errors', async () => {
  const { observed, keyLookedUp, read } = createMetrics({ logLinesLost: () => 0, dropReasons: [] });
  const memory = createMemoryStorage();
  const unavailable = new DomainError('storage_unavailable', 'out of reach');
  const defect = new TypeError('a defect');
  const later = Promise.resolve(null);
  const { pets, keys } = observed({
    ...memory,
    pets: {
      ...memory.pets,
      find: (id) => (id === 1n ? later : Promise.reject(id === 2n ? unavailable : defect)),
      add() {
        throw unavailable;
      },
      list() {
        throw defect;
      },
    },
  });
  expect(keys.list()).toEqual([]);
  expect(await pets.find(1n)).toBeNull();
  await expect(pets.find(2n)).rejects.toBe(unavailable);
  await expect(pets.find(3n)).rejects.toBe(defect);
  expect(() => pets.list({ after: 0n, limit: 1 })).toThrow(defect);
  // Whether it has the form of an animal is not for the storage to see.
  expect(() => pets.add({} as never)).toThrow(unavailable);
  for (const remembered of [true, true, false]) keyLookedUp(remembered);
  const lines = String((await read()).body).split('\n');
  expect(lines.filter((line) => /^animal_store_(?:key|storage).* [1-9]/.test(line)).sort()).toEqual([
    'animal_store_key_lookups_total{result="hit"} 2',
    'animal_store_key_lookups_total{result="miss"} 1',
    'animal_store_storage_calls_total{operation="keys.list",outcome="ok"} 1',
    'animal_store_storage_calls_total{operation="pets.add",outcome="unavailable"} 1',
    'animal_store_storage_calls_total{operation="pets.find",outcome="error"} 1',
    'animal_store_storage_calls_total{operation="pets.find",outcome="ok"} 1',
    'animal_store_storage_calls_total{operation="pets.find",outcome="unavailable"} 1',
    'animal_store_storage_calls_total{operation="pets.list",outcome="error"} 1',
  ]);
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

test('serves no metrics if METRICS=off', async () => {
  const { call } = await startService({ METRICS: 'off' });
  expect((await call('GET', '/metrics', { key: null })).status).toBe(404);
});

test('logs each request as a line of JSON without secrets', async () => {
  const running = startProcess({ API_KEYS: `${KEY},${OTHER_KEY}` });
  const { add, call } = serviceAt(await listeningAt(running));
  const added = await add(
    { name: 'a secret näme', categoryId: 1 },
    { 'x-request-id': 'one', traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` },
  );
  await call('GET', '/v1/pets/1?secret=in-the-query', { headers: { 'x-request-id': 'two', traceparent: '00-xyz' } });
  await call('GET', '/nothing/secret', { key: 'a-wrong-key-of-someone', headers: { 'x-request-id': 'three' } });
  await call('GET', '/v1/pets', { key: 'a-wrong-key-of-someone', headers: { 'x-request-id': 'four' } });
  await running.says(/"requestId":"four"/);
  const lines = running.output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const [one, two, three, four] = ['one', 'two', 'three', 'four'].map((id) =>
    lines.find(({ requestId }) => requestId === id),
  );
  expect(one).toEqual({
    level: 30,
    time: expect.closeTo(Date.now(), -5),
    msg: 'request',
    method: 'POST',
    route: '/v1/pets',
    status: 201,
    duration: expect.any(Number),
    bytes: Buffer.byteLength(added.text),
    requestId: 'one',
    traceId: TRACE_ID,
    holder: expect.stringMatching(/^configured-[\da-f]{16}$/),
  });
  expect(two).toMatchObject({ method: 'GET', route: '/v1/pets/:petId', status: 200, holder: one?.['holder'] });
  expect(two).not.toHaveProperty('traceId');
  expect(three).toMatchObject({ route: 'unmatched', status: 404 });
  expect(four).toMatchObject({ route: '/v1/pets', status: 401 });
  expect(four).not.toHaveProperty('holder');
  for (const secret of [KEY, 'secret', 'a-wrong-key']) expect(running.output.out).not.toContain(secret);
});

/** What a process writes that logs a request, an event and a fault of the service. */
async function logged(level: string, options: object): Promise<string> {
  const exchange = {
    id: 'one',
    method: 'GET',
    route: '/v1/pets',
    traceId: null,
    holder: 'the "zoo\\',
    unavailable: null,
  };
  const script = `
    import { createLog } from ${JSON.stringify(new URL('../src/observability/log.ts', import.meta.url))};
    const log = createLog(${JSON.stringify(level)}, ${JSON.stringify(options)});
    log.observer.end(${JSON.stringify(exchange)}, { status: 200 }, 2, 1.5);
    log.info('an event', { port: 3000 });
    log.unexpectedError(new Error('a defect'));
    await log.close();
  `;
  const words = ['--conditions=source', '--input-type=module', '-e', script];
  return (await promisify(execFile)(process.execPath, words)).stdout;
}

test("escapes a holder's name", async () => {
  const [line = '', ...more] = (await logged('info', { readable: false })).trim().split('\n');
  expect(more).toHaveLength(2);
  expect(JSON.parse(line)).toMatchObject({ msg: 'request', holder: 'the "zoo\\', duration: 1.5, bytes: 2 });
});

test('logs plain text on a terminal, with the stack of an unexpected error', async () => {
  const lines = (await logged('info', { readable: true })).split('\n');
  const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z /;
  expect(lines[0]).toBe('GET /v1/pets 200 1.5 ms 2 bytes the "zoo\\ one');
  expect(lines.slice(1, 3)).toEqual([expect.stringMatching(moment), expect.stringMatching(moment)]);
  expect(lines.slice(1, 4).map((line) => line.replace(moment, ''))).toEqual([
    'an event {"port":3000}',
    'unexpected error',
    'Error: a defect',
  ]);
  expect(lines[4]).toMatch(/^ +at /);
});

test('logs a throttled warning at once, and then once a minute with the number of occurrences', async () => {
  const script = `
    import { createLog } from ${JSON.stringify(new URL('../src/observability/log.ts', import.meta.url))};
    const log = createLog('warn', { readable: false });
    log.warnThrottled('a warning');
    log.warnThrottled('a warning');
    log.warnThrottled('something else', { reason: 'a reason' });
    const now = performance.now.bind(performance);
    performance.now = () => now() + 60_000;
    log.warnThrottled('a warning');
    await log.close();
  `;
  const words = ['--conditions=source', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ level, msg, times, reason }) => [level, msg, times, reason])).toEqual([
    [40, 'a warning', 1, undefined],
    [40, 'something else', 1, 'a reason'],
    [40, 'a warning', 2, undefined],
  ]);
});

test('logs only errors if LOG_LEVEL=error, and nothing if LOG_LEVEL=silent', async () => {
  const lines = (await logged('error', { readable: false })).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 50, err: expect.objectContaining({ message: 'a defect' }) }),
  ]);
  expect(await logged('silent', { readable: false })).toBe('');
});

test.each([
  ['info', false],
  ['debug', true],
])('logs successful probes at level debug (LOG_LEVEL=%s: %s)', async (level, logged) => {
  const running = startProcess({ API_KEYS: KEY, LOG_LEVEL: level, STOP_GRACE_SECONDS: '5' });
  const { call } = serviceAt(await listeningAt(running));
  const routes = ['/livez', '/readyz', '/healthz', '/metrics'];
  for (const route of routes) expect((await call('GET', route, { key: null })).status).toBe(200);
  expect((await call('POST', '/livez', { key: null })).status).toBe(405);
  // One that fails is worth a line at any time.
  running.process.kill('SIGTERM');
  await running.says(/"stopping"/);
  expect((await call('GET', '/readyz', { key: null })).status).toBe(503);
  await running.says(/"route":"\/readyz","status":503/);
  const lines = running.output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; msg: string; route: string; status: number })
    .filter(({ msg }) => msg === 'request')
    .map(({ level, route, status }) => [level, route, status]);
  expect(lines).toEqual([
    ...(logged ? routes.map((route) => [20, route, 200]) : []),
    [30, 'unmatched', 405],
    [30, '/readyz', 503],
  ]);
});

test('logs and counts why requests are rejected with 503', async () => {
  const url = `mongodb://127.0.0.1:${await freePort()}/animals?serverSelectionTimeoutMS=100`;
  const running = startProcess({ API_KEYS: KEY, STORAGE: 'mongodb', MONGODB_URL: url, STOP_GRACE_SECONDS: '5' });
  const service = serviceAt(await listeningAt(running));
  for (const path of ['/v1/pets', '/v1/pets/1']) expect((await service.call('GET', path)).status).toBe(503);
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
}, 20_000);

test('warns of requests rejected with 503 even if it logs no requests', async () => {
  const port = await freePort();
  const url = `mongodb://127.0.0.1:${await freePort()}/animals?serverSelectionTimeoutMS=100`;
  const running = startProcess({
    ...{ API_KEYS: KEY, LOG_LEVEL: 'warn', PORT: String(port) },
    ...{ STORAGE: 'mongodb', MONGODB_URL: url },
  });
  const { call } = serviceAt(port);
  const status = () =>
    call('GET', '/v1/pets').then(
      (answer) => answer.status,
      () => null,
    );
  await expect.poll(status, { timeout: 10_000 }).toBe(503);
  await running.says(/"level":40,.*rejected with 503: the storage failed/);
  expect(running.output.out).not.toContain('"msg":"request"');
}, 20_000);

test('logs no requests if LOG_LEVEL=error', async () => {
  // Nothing says where it listens.
  const port = await freePort();
  const running = startProcess({ API_KEYS: KEY, LOG_LEVEL: 'error', PORT: String(port) });
  const { call } = serviceAt(port);
  const answered = async () => {
    try {
      return (await call('GET', '/v1/pets')).status;
    } catch {
      return null;
    }
  };
  await expect.poll(answered, { timeout: 10_000 }).toBe(200);
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);
  expect(running.output).toEqual({ out: '', err: '' });
});
