import { hash, randomBytes } from 'node:crypto';
import { generateApiKey } from '@animal-store/domain/transport';
import { describe, expect, test } from 'vitest';
import { freePort, KEY, OTHER_KEY, serviceAt } from './service.ts';
import { keepConnecting, listeningAt, startProcess } from './service-process.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The id of KEY. */
const ID = hash('sha256', KEY).slice(0, 16);

describe('the log', () => {
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
      client: '127.0.0.1',
      traceId: TRACE_ID,
      keyId: ID,
      holder: `configured-${ID}`,
    });
    expect(two).toMatchObject({ method: 'GET', route: '/v1/pets/:petId', status: 200, holder: one?.['holder'] });
    expect(two).not.toHaveProperty('traceId');
    expect(three).toMatchObject({ route: 'unmatched', status: 404 });
    expect(four).toMatchObject({ route: '/v1/pets', status: 401 });
    expect(four).not.toHaveProperty('keyId');
    expect(four).not.toHaveProperty('holder');
    for (const secret of [KEY, 'secret', 'a-wrong-key']) expect(running.output.out).not.toContain(secret);
  });

  test('shows the visible prefix of a rejected key, and nothing of what may be another secret', async () => {
    const key = generateApiKey(randomBytes);
    const running = startProcess({ API_KEYS: KEY });
    const { call } = serviceAt(await listeningAt(running));
    const secret = 'the-password-of-somebody';
    expect((await call('GET', '/v1/pets', { key, headers: { 'x-request-id': 'one' } })).status).toBe(401);
    expect((await call('GET', '/v1/pets', { key: secret, headers: { 'x-request-id': 'two' } })).status).toBe(401);
    const [one] = await running.says(/^.*"requestId":"one".*$/m);
    expect(JSON.parse(one)).toMatchObject({ status: 401, key: key.slice(0, 9) });
    const [two] = await running.says(/^.*"requestId":"two".*$/m);
    expect(JSON.parse(two)).not.toHaveProperty('key');
    for (const text of [key, secret]) expect(running.output.out).not.toContain(text);
  });

  test.each([
    ['0', '127.0.0.1'],
    ['1', '203.0.113.7'],
  ])('names the client behind proxies if TRUST_PROXY=%s as %s', async (TRUST_PROXY, client) => {
    const running = startProcess({ API_KEYS: KEY, TRUST_PROXY });
    const { call } = serviceAt(await listeningAt(running));
    await call('GET', '/v1/pets', { headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' } });
    const [line] = await running.says(/^.*"msg":"request".*$/m);
    expect(JSON.parse(line)).toMatchObject({ client });
  });

  test.each([
    ['info', false],
    ['debug', true],
  ])('logs successful probes at level debug (LOG_LEVEL=%s: %s)', async (level, logged) => {
    const running = startProcess({ API_KEYS: KEY, LOG_LEVEL: level, STOP_GRACE_SECONDS: '30' });
    const port = await listeningAt(running);
    const { call } = serviceAt(port);
    const routes = ['/livez', '/readyz', '/healthz', '/metrics'];
    for (const route of routes) expect((await call('GET', route, { key: null })).status).toBe(200);
    expect((await call('POST', '/livez', { key: null })).status).toBe(405);
    keepConnecting(port);
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
        (response) => response.status,
        () => null,
      );
    await expect.poll(status).toBe(503);
    await running.says(/"level":40,.*rejected with 503: the storage failed/);
    expect(running.output.out).not.toContain('"msg":"request"');
  });

  test('logs no requests if LOG_LEVEL=error', async () => {
    // Nothing says where it listens.
    const port = await freePort();
    const running = startProcess({ API_KEYS: KEY, LOG_LEVEL: 'error', PORT: String(port) });
    const { call } = serviceAt(port);
    const responded = async () => {
      try {
        return (await call('GET', '/v1/pets')).status;
      } catch {
        return null;
      }
    };
    await expect.poll(responded).toBe(200);
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.output).toEqual({ out: '', err: '' });
  });
});
