import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue } from '@animal-store/domain';
import { describe, expect } from 'vitest';
import { errorLike, startApp, test } from '../../test/service.ts';
import { type AppOptions, createApp } from './app.ts';
import { OVERLOADED } from './errors.ts';
import { createRecorder, type RecorderOptions } from './exchange.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { RequestRecord } from './record.ts';

// Another runtime serves the application on a server of its own.
test('serves requests of a server that knows nothing of it', async () => {
  const authenticate = async () => ({ id: 'key', holder: 'holder' });
  const app = createApp({ catalogue: createCatalogue(createMemoryStorage().pets), authenticate });
  const headers = { authorization: 'Bearer key', 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' };
  // As @hono/node-server, with requests and responses of Node.js.
  const environment = { incoming: {}, outgoing: {} };
  const response = await app.request('/v1/pets', init, environment);
  expect([response.status, await response.json()]).toEqual([201, { id: 1, name: 'Rex', categoryId: 1 }]);
});

/** An application whose requests are recorded. Its key is `key`. */
function createRecorded({
  trustedProxies,
  ...options
}: Pick<RecorderOptions, 'trustedProxies'> & Partial<AppOptions> = {}) {
  const records: Readonly<RequestRecord>[] = [];
  const recorder = createRecorder({ observers: [(record) => records.push(record)], trustedProxies });
  const authenticate = async (key: string) => (key === 'key' ? { id: 'id', holder: 'zoo' } : null);
  const catalogue = createCatalogue(createMemoryStorage().pets);
  const app = createApp({ catalogue, authenticate, recorder, ...options });
  return { records, app };
}

const AUTHORIZED = { authorization: 'Bearer key' };
const FIELDS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': 'mine' };

const fieldsOf = ({ headers }: Response) => Object.fromEntries(headers);

const creation = (body: string) => ({
  method: 'POST',
  headers: { ...AUTHORIZED, 'content-type': 'application/json' },
  body,
});

describe('a response to a script of another origin', () => {
  const ORIGIN = 'https://example.org';
  const KEY = { headers: AUTHORIZED };
  const wrong = (thrown: unknown) => () => Promise.reject(thrown);

  test.each<[what: string, status: number, path: string, init: RequestInit, checkReadiness?: () => Promise<void>]>([
    ['an operation', 200, '/v1/pets', KEY],
    ['a redirect', 302, '/', {}],
    ['an unknown path', 404, '/nothing', {}],
    ['an unknown path', 404, '/v1/nothing', KEY],
    ['another method', 405, '/v1/pets', { ...KEY, method: 'PUT' }],
    ['another method', 405, '/livez', { method: 'PUT' }],
    ['a missing key', 401, '/v1/pets', {}],
    ['a large body', 413, '/v1/pets', creation(' '.repeat(70_000))],
    ['an unavailable storage', 503, '/readyz', {}, wrong(OVERLOADED)],
    ['a defect', 500, '/readyz', {}, wrong(new Error('a defect'))],
    ['a defect that throws a text', 500, '/readyz', {}, wrong('a text')],
  ])('of %s, %d to %s, has the fields of every response and those of CORS', async (...row) => {
    const [, status, path, init, checkReadiness = async () => {}] = row;
    for (const origin of [ORIGIN, '*']) {
      const { app } = createRecorded({ corsOrigins: new Set([origin]), checkReadiness });
      const headers = { ...(init.headers as object), origin: ORIGIN, 'x-request-id': 'mine' };
      const response = await app.request(path, { ...init, headers });
      expect([response.status, fieldsOf(response)]).toMatchObject([
        status,
        {
          ...FIELDS,
          'access-control-allow-origin': origin,
          'access-control-expose-headers': expect.stringMatching(/Retry-After.*X-Request-Id/),
        },
      ]);
      expect(response.headers.get('vary')).toBe(origin === '*' ? null : 'Origin');
    }
  });

  test('has them while load is shed, and beyond the quota', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { app } = createRecorded({
      ...{ corsOrigins: new Set([ORIGIN]), rateLimit: 1, checkReadiness: () => promise },
    });
    const statuses: number[] = [];
    const call = async () => {
      const { status, headers } = await app.request('/v1/pets', { headers: { ...AUTHORIZED, origin: ORIGIN } });
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      statuses.push(status);
    };
    const waiting = Array.from({ length: 1_001 }, () => app.request('/readyz'));
    await call();
    resolve();
    await Promise.all(waiting);
    await call();
    await call();
    expect(statuses).toEqual([503, 200, 429]);
  });
});

test.each([
  ['an error', new Error('a defect'), expect.objectContaining({ message: 'a defect' })],
  ['a text', 'a defect', 'a defect'],
  ['null', null, null],
  ['undefined', undefined, expect.any(Error)],
])('records %s that is thrown, and responds with 500', async (_, thrown, error) => {
  const { app, records } = createRecorded({ checkReadiness: () => Promise.reject(thrown) });
  expect((await app.request('/readyz')).status).toBe(500);
  expect((await app.request('/livez')).status).toBe(200);
  expect(records).toMatchObject([
    { route: '/readyz', status: 500, error },
    { route: '/livez', status: 200, error: undefined },
  ]);
});

test.each([
  ['GET', '/v1/pets', AUTHORIZED, '/v1/pets'],
  ['HEAD', '/v1/pets', AUTHORIZED, '/v1/pets'],
  ['GET', '/v1/p%65ts/7', AUTHORIZED, '/v1/pets/:petId'],
  ['GET', '/v1/pets', {}, '/v1/pets'],
  ['PUT', '/v1/pets', AUTHORIZED, 'unmatched'],
  ['GET', '/nothing', {}, 'unmatched'],
  ['POST', '/mcp', {}, '/mcp'],
  ['GET', '/docs', {}, '/docs'],
])('records the route of %s %s', async (method, path, headers, route) => {
  const { app, records } = createRecorded();
  const { length } = await (await app.request(path, { method, headers })).arrayBuffer().then(Buffer.from);
  expect(records).toMatchObject([{ method, route, ...(method === 'HEAD' ? {} : { bytes: length }) }]);
});

test.each([
  ['of a connection', 1, '::ffff:203.0.113.9', undefined],
  ['of a connection, not a forged one,', 0, '203.0.113.9', '198.51.100.1'],
  ['of a proxy', 1, '127.0.0.1', '::ffff:203.0.113.9'],
])('records an address %s without the prefix of IPv6', async (_, trustedProxies, clientAddress, forwarded) => {
  const { records, app } = createRecorded({ trustedProxies });
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined);
  await app.request('/livez', {}, { request: { clientAddress, header } as IncomingRequest });
  expect(records).toMatchObject([{ client: '203.0.113.9' }]);
});

test.for(['/livez', '/readyz', '/healthz'])('%s needs no key, for GET and HEAD', async (path, { app: { call } }) => {
  const { status, headers } = await call('GET', path, { key: null });
  expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  expect(await call('HEAD', path, { key: null })).toMatchObject({ status: 200, text: '' });
  expect(await call('POST', path, { key: null })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

test.for([
  ...['/v1', '/v1/', '/v1/pets/', '/v1/pets/1/', '/v1/pets/1/x', '/v1//pets', '/v1/Pets', '/v1/pet'],
  ...['/v1/store/orders', '/v1/%zz', '/v1/pets%2F1', '/v1/openapi.json'],
])('responds with not_found to %s below the base path, with a key', async (path, { app: { call } }) => {
  for (const method of ['GET', 'POST']) {
    const { status, json } = await call(method, path);
    expect([status, json]).toEqual([404, errorLike('not_found', 404)]);
  }
  expect((await call('GET', path, { key: null })).status).toBe(401);
});

test.each([
  ['/nothing', 404, null],
  ['/livez', 405, 'GET, HEAD'],
  ['/mcp', 405, 'POST'],
])('responds to PATCH %s with %d also if somebody has added a middleware', async (path, status, allow) => {
  const { app } = createRecorded();
  app.use(async (_, next) => next());
  const response = await app.request(path, { method: 'PATCH', headers: AUTHORIZED });
  expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
});

test('serves another base path, which its links have, and nothing at /v1', async () => {
  const { call } = startApp({ BASE_PATH: '/shop/v1' });
  const headers = { 'content-type': 'application/json' };
  const body = '{"name":"Rex","categoryId":1}';
  for (const location of ['/shop/v1/pets/1', '/shop/v1/pets/2']) {
    const created = await call('POST', '/shop/v1/pets', { headers, body });
    expect(created.headers['location']).toBe(location);
  }
  const { link } = (await call('GET', '/shop/v1/pets?limit=1')).headers;
  expect(link).toMatch(/^<\/shop\/v1\/pets\?limit=1&cursor=/);
  expect((await call('GET', '/shop/v1/pets/1')).headers['link']).toBe('</shop/v1/pets>; rel="successor-version"');
  expect((await call('GET', '/shop/v1', { key: null })).status).toBe(401);
  expect((await call('GET', '/shop', { key: null })).status).toBe(404);
  expect((await call('GET', '/v1/pets', { key: null })).status).toBe(404);
});
