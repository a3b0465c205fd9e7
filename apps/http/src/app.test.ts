import { describe, expect, test } from 'vitest';
import { type AppDependencies, type Apps, createApps } from './app.ts';
import { petOperations } from './pets/index.ts';

/** The applications of a service, and why it was unavailable. */
function start(given: Partial<AppDependencies> = {}) {
  const reasons: unknown[] = [];
  const { main, probes } = createApps({
    basePath: '/v1',
    publicUrl: null,
    operations: petOperations({ basePath: '/v1' } as Parameters<typeof petOperations>[0]),
    storage: { ready: async () => {} },
    isStopping: () => false,
    hasProbePort: false,
    corsOrigins: new Set(),
    metrics: { contentType: 'text/plain', read: async () => 'up 1' },
    docs: [],
    authenticate: () => null,
    rateLimit: null,
    shouldShed: () => false,
    observe: ({ unavailable }) => void reasons.push(unavailable?.reason),
    inFlight: { count: 0 },
    onUnexpectedError: (error) => expect.unreachable(String(error)),
    trustedProxies: 0,
    ...given,
  });
  return { main, probes, reasons };
}

/** The response of an application to a GET request without a key. */
async function get(app: Apps['main'], path: string) {
  const incoming = { method: 'GET', headers: {}, rawHeaders: [], socket: {} };
  const response = await app.fetch(new Request(`http://localhost${path}`), { incoming } as never);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe.each(['main', 'probes'] as const)('the application %s', (name) => {
  test('reports that the service is live and ready, and returns its metrics', async () => {
    const app = start()[name];
    expect(await get(app, '/livez')).toMatchObject({ status: 200, text: '{"status":"live"}' });
    for (const path of ['/readyz', '/healthz']) {
      expect(await get(app, path)).toMatchObject({ status: 200, text: '{"status":"ready"}' });
    }
    const { headers, text } = await get(app, '/metrics');
    expect([headers.get('content-type'), text]).toEqual(['text/plain', 'up 1']);
  });

  test('reports that a service that stops is live, but not ready', async () => {
    const { [name]: app, reasons } = start({ isStopping: () => true });
    expect((await get(app, '/readyz')).status).toBe(503);
    expect((await get(app, '/livez')).status).toBe(200);
    expect(reasons).toEqual(['stopping', undefined]);
  });

  test('checks the storage once for several requests to /readyz', async () => {
    let checks = 0;
    const ready = async () => {
      checks += 1;
    };
    const app = start({ storage: { ready } })[name];
    await Promise.all([get(app, '/readyz'), get(app, '/readyz')]);
    expect(checks).toBe(1);
  });

  test('returns 404 for /metrics if metrics are off', async () => {
    expect((await get(start({ metrics: null })[name], '/metrics')).status).toBe(404);
  });
});

test('a probe port serves the probes instead of the main port, and nothing else', async () => {
  const { main, probes } = start({ hasProbePort: true });
  expect((await get(main, '/livez')).status).toBe(404);
  expect((await get(probes, '/livez')).status).toBe(200);
  expect((await get(probes, '/openapi.json')).status).toBe(404);
});

test('an unknown path is an error that names the others of its port', async () => {
  const { main, probes } = start();
  const message = async (app: Apps['main']) => JSON.parse((await get(app, '/nothing')).text).message;
  expect(await message(main)).toMatch(/; there are \/v1\/pets, \/v1\/pets\/\{petId\}$/);
  expect(await message(probes)).toMatch(/; there are \/livez, \/readyz, \/healthz, \/metrics$/);
});

test.each([
  [null, '/v1'],
  ['https://api.example.org/animals/v1', 'https://api.example.org/animals/v1'],
])('the OpenAPI document of a service with the public URL %s has the server %s', async (publicUrl, url) => {
  const { headers, text } = await get(start({ publicUrl }).main, '/openapi.json');
  expect(headers.get('content-type')).toBe('application/json');
  const { servers, paths } = JSON.parse(text);
  expect(servers).toMatchObject([{ url }]);
  expect(Object.keys(paths)).toEqual(['/pets', '/pets/{petId}']);
});

test('responses vary by origin only if some origins get access', async () => {
  expect((await get(start().main, '/livez')).headers.has('vary')).toBe(false);
  const { main } = start({ corsOrigins: new Set(['https://a.example']) });
  expect((await get(main, '/livez')).headers.get('vary')).toBe('Origin');
});
