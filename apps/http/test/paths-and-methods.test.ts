import { expect, test } from 'vitest';
import { errorLike, startService } from './service.ts';

test.each([
  ['/v1/pets', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']],
  ['/v1/pets/1', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
  ['/v1/pets/x', 'GET, HEAD', ['POST']],
  ['/v1/pets/%zz', 'GET, HEAD', ['POST']],
])('%s allows %s, and responds with 405 and Allow to other methods', async (path, allow, methods) => {
  const { call } = await startService();
  for (const method of methods) {
    const response = await call(method, path);
    expect([method, response.status, response.headers.allow]).toEqual([method, 405, allow]);
    expect(response.json).toEqual(errorLike('method_not_allowed', 405));
    expect((await call(method, path, { key: null })).status).toBe(401);
  }
});

test.each(['/livez', '/readyz', '/healthz', '/openapi.json'])('%s needs no key, for GET and HEAD', async (path) => {
  const { call } = await startService();
  const response = await call('GET', path, { key: null });
  expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json']);
  const head = await call('HEAD', path, { key: null });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([
    200,
    '',
    response.headers['content-length'],
  ]);
  const rejected = await call('POST', path, { key: null });
  expect([rejected.status, rejected.headers.allow]).toEqual([405, 'GET, HEAD']);
});

test.each([
  '/v1',
  '/v1/',
  '/v1/pets/',
  '/v1/pets/1/',
  '/v1/pets/1/x',
  '/v1//pets',
  '/v1/Pets',
  '/v1/pet',
  '/v1/store/orders',
  '/v1/%zz',
  '/v1/pets%2F1',
  '/v1/openapi.json',
])('responds with not_found to %s below the base path, with a key', async (path) => {
  const { call } = await startService();
  for (const method of ['GET', 'POST']) {
    const response = await call(method, path);
    expect([response.status, response.json]).toEqual([404, errorLike('not_found', 404)]);
  }
  expect((await call('GET', path, { key: null })).status).toBe(401);
});

test.each(['/x', '/pets', '/v2/pets', '/v1x', '/livez/', '/LIVEZ', '/%zz', '/v1%2Fpets', '/favicon.ico'])(
  'responds with not_found to %s outside the base path, without a key',
  async (path) => {
    const { call } = await startService();
    for (const method of ['GET', 'DELETE']) {
      const response = await call(method, path, { key: null });
      expect([response.status, response.json]).toEqual([404, errorLike('not_found', 404)]);
    }
  },
);

test('serves another base path, and nothing at /v1', async () => {
  const { call } = await startService({ BASE_PATH: '/shop/v1' });
  expect((await call('GET', '/shop/v1/pets')).status).toBe(200);
  expect((await call('GET', '/shop/v1/pets/1')).headers['link']).toBe('</shop/v1/pets>; rel="successor-version"');
  expect((await call('GET', '/shop/v1', { key: null })).status).toBe(401);
  expect((await call('GET', '/shop', { key: null })).status).toBe(404);
  expect((await call('GET', '/v1/pets', { key: null })).status).toBe(404);
});

test('handles a long path in linear time', async () => {
  const { call } = await startService();
  const path = `/${'a'.repeat(15_800)}/`;
  const responses = await Promise.all(Array.from({ length: 200 }, () => call('GET', path, { key: null })));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([404]));
});
