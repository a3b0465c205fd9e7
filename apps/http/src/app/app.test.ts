import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue } from '@animal-store/domain';
import { Hono } from 'hono';
import { basicAuth } from 'hono/basic-auth';
import { setCookie } from 'hono/cookie';
import { HTTPException } from 'hono/http-exception';
import { describe, expect } from 'vitest';
import { errorLike, startApp, test } from '../../test/service.ts';
import { type AppOptions, createApp } from './app.ts';
import type { Env, Middleware } from './env.ts';
import { OVERLOADED } from './errors.ts';
import { createExchange, type ExchangeOptions } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import type { RequestRecord } from './record.ts';

// The application as a library: its program serves it on another server, and adds routes of its own.
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
function createRecorder({
  trustedProxies,
  ...options
}: Pick<ExchangeOptions, 'trustedProxies'> & Partial<AppOptions> = {}) {
  const records: Readonly<RequestRecord>[] = [];
  const exchange = createExchange({ observers: [(record) => records.push(record)], trustedProxies });
  const authenticate = async (key: string) => (key === 'key' ? { id: 'id', holder: 'zoo' } : null);
  const catalogue = createCatalogue(createMemoryStorage().pets);
  const app = createApp({ catalogue, authenticate, exchange, ...options });
  return { records, exchange, app };
}

const AUTHORIZED = { authorization: 'Bearer key' };
const FIELDS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': 'mine' };

const fieldsOf = ({ headers }: Response) => Object.fromEntries(headers);

const creation = (body: string) => ({
  method: 'POST',
  headers: { ...AUTHORIZED, 'content-type': 'application/json' },
  body,
});

describe('a middleware of a program', () => {
  test.each([
    [200, 'GET', '/v1/pets', AUTHORIZED],
    [201, 'POST', '/v1/pets', { ...AUTHORIZED, 'content-type': 'application/json' }],
    [404, 'GET', '/v1/pets/7', AUTHORIZED],
    [401, 'GET', '/v1/pets', {}],
    [405, 'PUT', '/v1/pets', AUTHORIZED],
    [404, 'GET', '/nothing', {}],
    [401, 'POST', '/mcp', {}],
    [200, 'GET', '/livez', {}],
    [200, 'GET', '/docs', {}],
  ])('of initApp gets the %d of %s %s', async (status, method, path, headers) => {
    const seen: unknown[] = [];
    const { app } = createRecorder({
      initApp: (app) =>
        app.use(async (c, next) => {
          c.header('x-before', 'a');
          await next();
          seen.push([c.req.path, c.res.status]);
          c.header('x-after', 'b');
        }),
    });
    const body = method === 'POST' ? '{"name":"Rex","categoryId":1}' : null;
    const response = await app.request(path, { method, body, headers: { 'x-request-id': 'mine', ...headers } });
    expect(seen).toEqual([[path, status]]);
    expect([response.status, fieldsOf(response)]).toMatchObject([
      status,
      { 'x-request-id': 'mine', 'x-before': 'a', 'x-after': 'b' },
    ]);
  });

  test.each([
    [200, '/v1/pets', AUTHORIZED],
    [401, '/v1/pets', {}],
    [403, '/own', {}],
    [503, '/own?busy', {}],
  ])('of initApp may set fields and cookies before a %d of %s', async (status, path, headers) => {
    const { app } = createRecorder({
      initApp(app) {
        app.use((c, next) => {
          setCookie(c, 'a', '1');
          setCookie(c, 'b', '2');
          c.header('x-shop', 'yes');
          c.header('cache-control', 'max-age=60');
          return next();
        });
        app.use('/own', (c) => {
          throw c.req.query('busy') === undefined ? new HTTPException(403) : OVERLOADED;
        });
      },
    });
    const response = await app.request(path, { headers: { 'x-request-id': 'mine', ...headers } });
    expect([response.status, response.headers.getSetCookie(), fieldsOf(response)]).toMatchObject([
      status,
      ['a=1; Path=/', 'b=2; Path=/'],
      { ...FIELDS, 'x-shop': 'yes', 'cache-control': 'max-age=60' },
    ]);
  });

  test('may respond itself, or replace a response, which gets a record and the header fields, too', async () => {
    const { app, records } = createRecorder({
      initApp(app) {
        app.use('/v1/*', basicAuth({ username: 'a', password: 'b' }));
        app.use('/livez', async (c, next) => {
          await next();
          c.res = new Response('replaced');
        });
      },
    });
    const rejected = await app.request('/v1/pets', { headers: { 'x-request-id': 'mine' } });
    expect([rejected.status, fieldsOf(rejected)]).toMatchObject([
      401,
      { ...FIELDS, 'www-authenticate': expect.stringMatching(/^Basic /) },
    ]);
    const replaced = await app.request('/livez', { headers: { 'x-request-id': 'mine' } });
    expect([await replaced.text(), fieldsOf(replaced)]).toMatchObject(['replaced', FIELDS]);
    expect(records).toMatchObject([
      { route: '/v1/pets', status: 401, error: null },
      { route: '/livez', status: 200, bytes: undefined },
    ]);
  });

  test('that adds fields to a response leaves its size in the record', async () => {
    const { app, records } = createRecorder({
      initApp: (app) => app.use((c, next) => next().then(() => c.header('x-after', 'b'))),
    });
    const { length } = await (await app.request('/livez')).text();
    expect(records).toMatchObject([{ bytes: length }]);
  });

  test('without initApp sets fields of the errors of its route, too', async () => {
    const { app } = createRecorder();
    app.use('/own', (c, next) => {
      c.header('x-shop', 'yes');
      return next();
    });
    app.get('/own', () => {
      throw OVERLOADED;
    });
    const response = await app.request('/own', { headers: { 'x-request-id': 'mine' } });
    expect([response.status, fieldsOf(response)]).toMatchObject([503, { ...FIELDS, 'x-shop': 'yes' }]);
  });

  test.each([new Error('late'), new HTTPException(500), 'late'])(
    'that fails after a response leaves nothing of it',
    async (error) => {
      const { app, records } = createRecorder({
        initApp: (app) =>
          app.use(async (c, next) => {
            c.header('x-before', 'a');
            await next();
            throw error;
          }),
      });
      const response = await app.request('/docs/swagger-ui.css', { headers: { 'x-request-id': 'mine' } });
      const { length } = await response.text();
      const { etag, 'content-length': declared = String(length), ...fields } = fieldsOf(response);
      expect([response.status, etag, declared, fields]).toMatchObject([500, undefined, String(length), FIELDS]);
      expect(records).toMatchObject([{ status: 500, bytes: length === 0 ? undefined : length }]);
    },
  );

  test('may read the body before an operation does, which keeps its limit', async () => {
    for (const read of ['json', 'text', 'arrayBuffer', 'blob'] as const) {
      const { app } = createRecorder({
        initApp: (app) =>
          app.use(async (c, next) => {
            await c.req[read]();
            await next();
          }),
      });
      const created = await app.request('/v1/pets', creation('{"name":"Rëx","categoryId":1}'));
      expect([created.status, await created.json()]).toEqual([201, { id: 1, name: 'Rëx', categoryId: 1 }]);
      const long = creation(`{"name":"Rex","categoryId":1,"x":"${'x'.repeat(70_000)}"}`);
      expect((await app.request('/v1/pets', long)).status).toBe(413);
    }
  });
});

describe('a route of a program', () => {
  test('has a record, a request id and the header fields, but keeps its own', async () => {
    const { app, records } = createRecorder();
    app.get('/own/:name', (c) => c.json({ name: c.req.param('name') }, 200, { 'cache-control': 'max-age=60' }));
    const response = await app.request('/own/x', { headers: { 'x-request-id': 'mine' } });
    expect([await response.json(), fieldsOf(response)]).toMatchObject([
      { name: 'x' },
      { ...FIELDS, 'cache-control': 'max-age=60', 'content-type': 'application/json' },
    ]);
    expect(records).toMatchObject([{ id: 'mine', method: 'GET', route: '/own/:name', status: 200, error: null }]);
  });

  test.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a text', () => 'a text'],
    ['an error of the network', () => Response.error()],
  ])('that returns %s gets 500, and is recorded with the error', async (_, handler) => {
    const { app, records, exchange } = createRecorder();
    app.get('/own', handler as () => Response);
    const response = await app.request('/own', { headers: { 'x-request-id': 'mine' } });
    expect([response.status, fieldsOf(response)]).toMatchObject([500, FIELDS]);
    expect(records).toMatchObject([{ route: '/own', status: 500, error: expect.any(Error) }]);
    await exchange.allRecorded();
  });

  test.each([
    ['header', OVERLOADED, 503],
    ['header', new HTTPException(403, { message: 'no entry' }), 403],
    ['res', OVERLOADED, 503],
  ])('behind middleware that uses c.%s gets no length or coding of another body', async (member, error, status) => {
    const { app } = createRecorder({
      initApp: (app) =>
        app.use((c, next) => {
          if (member === 'res') c.res.headers.set('x-before', 'a');
          else c.header('x-before', 'a');
          return next();
        }),
    });
    app.get('/own', (c) => {
      c.header('content-length', '1');
      c.header('content-encoding', 'gzip');
      throw error;
    });
    const response = await app.request('/own');
    expect([response.status, fieldsOf(response)['x-before']]).toEqual([status, 'a']);
    expect(['content-length', 'content-encoding'].filter((name) => response.headers.has(name))).toEqual([]);
  });

  test('behind one of the same path is that of the record', async () => {
    const { app, records } = createRecorder({ initApp: (app) => app.use('/own/*', (_, next) => next()) });
    app.get('/own/:name', (_, next) => next());
    app.get('/own/*', (c) => c.body(null, 204));
    await app.request('/own/x');
    expect(records).toMatchObject([{ route: '/own/*', status: 204, bytes: 0 }]);
  });

  test.each(['GET', 'PROPFIND'])('for all methods is the route of the record of a %s', async (method) => {
    const { app, records } = createRecorder({ initApp: (app) => app.use('/own/*', (_, next) => next()) });
    app.all('/own/:name', (c) => c.text(c.req.param('name')));
    await app.request('/own/x', { method });
    expect(records).toMatchObject([{ method, route: '/own/:name', status: 200 }]);
  });

  test('serves its methods only', async () => {
    const { app } = createRecorder();
    app.put('/own', (c) => c.body(null, 204));
    expect((await app.request('/own', { method: 'PUT' })).status).toBe(204);
    const rejected = await app.request('/own');
    expect([rejected.status, rejected.headers.get('allow')]).toEqual([405, 'PUT']);
  });

  test.each(['GET', 'HEAD'])('that finds nothing is 404 to %s', async (method) => {
    const { app } = createRecorder({ initApp: (app) => app.get('*', (_, next) => next()) });
    app.get('/own', (c) => c.notFound());
    for (const path of ['/own', '/nothing']) {
      const { status, headers } = await app.request(path, { method });
      expect([status, headers.has('allow')]).toEqual([404, false]);
    }
  });

  test('needs a key below the base path', async () => {
    const { app, records } = createRecorder();
    app.get('/v1/own', (c) => c.text(c.get('key').holder));
    expect((await app.request('/v1/own')).status).toBe(401);
    expect(await (await app.request('/v1/own', { headers: AUTHORIZED })).text()).toBe('zoo');
    expect(records).toMatchObject([
      { route: '/v1/own', key: null },
      { route: '/v1/own', key: { holder: 'zoo' } },
    ]);
  });

  test('may return a response whose header fields can not be changed', async () => {
    const { app } = createRecorder();
    app.get('/own', () => Response.redirect('http://example.org/'));
    const response = await app.request('/own', { headers: { 'x-request-id': 'mine' } });
    expect([response.status, fieldsOf(response)]).toMatchObject([302, { ...FIELDS, location: 'http://example.org/' }]);
  });

  test.each([
    [403, 'no entry', new HTTPException(403, { message: 'no entry' }), null],
    [500, expect.not.stringContaining('s3cret'), new Error('the password is s3cret'), expect.any(Error)],
    [500, expect.not.stringContaining('s3cret'), 'the password is s3cret', 'the password is s3cret'],
  ])('that fails gets %d, and is recorded', async (status, text, error, recorded) => {
    const { app, records, exchange } = createRecorder();
    app.get('/own', () => {
      throw error;
    });
    const response = await app.request('/own', { headers: { 'x-request-id': 'mine' } });
    expect([response.status, await response.text(), fieldsOf(response)]).toMatchObject([status, text, FIELDS]);
    expect(records).toMatchObject([{ id: 'mine', method: 'GET', route: '/own', status, error: recorded }]);
    expect(exchange.inFlight()).toBe(0);
  });
});

describe('a response to a script of another origin', () => {
  const ORIGIN = 'https://example.org';
  const fail = (error: unknown) => () => Promise.reject(error);
  const after =
    (error: unknown): Middleware =>
    (_, next) =>
      next().then(fail(error));
  const copy: Middleware = async (c, next) => {
    await next();
    c.res = new Response(c.res.body, c.res);
  };
  const [ERROR, EXCEPTION] = [new Error('a defect'), new HTTPException(403, { message: 'no entry' })];
  const [PETS, OWN, LARGE] = ['/v1/pets', '/own', creation(' '.repeat(70_000))];
  const KEY = { headers: AUTHORIZED };

  test.each<[what: string, status: number, path: string, init: RequestInit, middleware?: Middleware]>([
    ['an operation', 200, PETS, KEY],
    ['a route of a program', 200, OWN, {}],
    ['a response whose fields can not be changed', 302, '/redirect', {}],
    ['an application with an onError of its own', 418, '/sub/fails', {}],
    ['a route that throws', 503, '/fails', {}],
    ['a route that throws an HTTPException', 403, '/excepts', {}],
    ['an unknown path', 404, '/nothing', {}],
    ['an unknown path', 404, '/v1/nothing', KEY],
    ['another method', 405, PETS, { ...KEY, method: 'PUT' }],
    ['a missing key', 401, PETS, {}],
    ['a large body', 413, PETS, LARGE],
    ['an unavailable storage', 503, '/readyz', {}],
    ...[PETS, OWN].flatMap((path): [string, number, string, RequestInit, Middleware][] => [
      ['middleware that throws before next', 500, path, KEY, fail(ERROR)],
      ['middleware that throws after next', 500, path, KEY, after(ERROR)],
      ['middleware that throws an HTTPException before next', 403, path, KEY, fail(EXCEPTION)],
      ['middleware that throws an HTTPException after next', 403, path, KEY, after(EXCEPTION)],
      ['middleware that throws a text before next', 500, path, KEY, fail('a text')],
      ['middleware that throws a text after next', 500, path, KEY, after('a text')],
      ['middleware that returns no response', 500, path, KEY, async () => {}],
      ['middleware that copies it', 200, path, KEY, copy],
    ]),
  ])(
    'of %s, %d to %s, has the fields of every response and those of CORS',
    async (_, status, path, init, middleware) => {
      for (const origin of [ORIGIN, '*']) {
        const { app } = createRecorder({
          corsOrigins: new Set([origin]),
          checkReadiness: fail(OVERLOADED),
          initApp: (app) => app.use(middleware ?? ((_, next) => next())),
        });
        app.get(OWN, (c) => c.text('own', 200, { vary: 'X-Origin-Host' }));
        app.get('/redirect', () => Response.redirect('http://example.org/'));
        app.get('/fails', fail(OVERLOADED)).get('/excepts', fail(EXCEPTION));
        app.route(
          '/sub',
          new Hono<Env>().get('/fails', fail(ERROR)).onError((_, c) => c.text('sub', 418)),
        );
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
        const vary = (response.headers.get('vary') ?? '').split(/, */);
        expect(vary.filter((name) => name === 'Origin')).toHaveLength(origin === '*' ? 0 : 1);
        if (path === OWN && status === 200) expect(vary).toContain('X-Origin-Host');
      }
    },
  );

  test('has them while load is shed, and beyond the quota', async () => {
    const { app } = createRecorder({ corsOrigins: new Set([ORIGIN]), rateLimit: 1 });
    const { promise, resolve } = Promise.withResolvers<Response>();
    app.get('/waits', () => promise);
    const statuses: number[] = [];
    const call = async () => {
      const { status, headers } = await app.request(PETS, { headers: { ...AUTHORIZED, origin: ORIGIN } });
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      statuses.push(status);
    };
    const waiting = Array.from({ length: 1_001 }, () => app.request('/waits'));
    await call();
    resolve(new Response(null));
    await Promise.all(waiting);
    await call();
    await call();
    expect(statuses).toEqual([503, 200, 429]);
  });
});

test.each([
  ['of a connection', 1, '::ffff:203.0.113.9', undefined],
  ['of a connection, not a forged one,', 0, '203.0.113.9', '198.51.100.1'],
  ['of a proxy', 1, '127.0.0.1', '::ffff:203.0.113.9'],
])('records an address %s without the prefix of IPv6', async (_, trustedProxies, clientAddress, forwarded) => {
  const { records, app } = createRecorder({ trustedProxies });
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined);
  await app.request('/livez', {}, { serverRequest: { clientAddress, header } as Incoming });
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
