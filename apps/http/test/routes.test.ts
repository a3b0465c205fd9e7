import { describe, expect } from 'vitest';
import { errorLike, KEY, startApp, test } from './service.ts';

test.for([
  ['/v1/pets', 'GET, HEAD, POST', 'PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY'],
  ['/v1/pets/1', 'GET, HEAD', 'POST PUT PATCH DELETE OPTIONS'],
  ['/v1/pets/x', 'GET, HEAD', 'POST'],
  ['/v1/pets/%zz', 'GET, HEAD', 'POST'],
] as const)('%s allows %s, and responds with 405 to %s', async ([path, allow, methods], { service: { call } }) => {
  for (const method of methods.split(' ')) {
    const { status, headers, json } = await call(method, path);
    expect([method, status, headers.allow]).toEqual([method, 405, allow]);
    expect(json).toEqual(errorLike('method_not_allowed', 405));
    expect((await call(method, path, { key: null })).status).toBe(401);
  }
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

test.for([
  ...['/x', '/pets', '/v2/pets', '/v1x', '/livez/', '/LIVEZ', '/%zz', '/v1%2Fpets', '/favicon.ico'],
  ...['/docs/x', '/docs//', '/docs/docs.js/', '/docs/swagger-ui-bundle.js.map'],
  ...['/docs/../../etc/passwd', '/docs/..%2f..%2fetc/passwd'],
])('responds with not_found to %s outside the base path, without a key', async (path, { service: { call } }) => {
  for (const method of ['GET', 'DELETE']) {
    const { status, json } = await call(method, path, { key: null });
    expect([status, json]).toEqual([404, errorLike('not_found', 404)]);
  }
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

describe('a response', () => {
  const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  const LONG = 'x'.repeat(128);

  test('has a well-formed X-Request-Id of the request, otherwise a new one', async ({ app: { call } }) => {
    const idOf = async (given?: string) => {
      const headers = given === undefined ? {} : { 'x-request-id': given };
      return String((await call('GET', '/v1/pets', { headers })).headers['x-request-id']);
    };
    for (const given of ['x', 'Root=1-67891233-abcdef012345678912345678', 'a.b:c/d+e=f@g-h_i', LONG]) {
      expect(await idOf(given)).toBe(given);
    }
    for (const given of [undefined, '', 'a b', '"', '{}', '\u00e9', `${LONG}x`, 'a,b']) {
      expect(await idOf(given)).toMatch(UUID);
    }
    expect(await idOf()).not.toBe(await idOf());
  });

  test.for([
    ['/v1/pets', KEY],
    ['/nothing', null],
  ] as const)('to %s has security fields and an id, but no quota', async ([path, key], { app: { call } }) => {
    const { headers } = await call('GET', path, { key });
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-request-id': expect.stringMatching(UUID),
    });
    expect(headers).not.toHaveProperty('ratelimit');
  });
});
