import { expect, test } from 'vitest';
import { errorLike, startService } from './service.ts';

test.each([
  ['/v1/pets', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']],
  ['/v1/pets/1', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
  ['/v1/pets/x', 'GET, HEAD', ['POST']],
])('%s allows %s, and answers 405 with Allow to other methods', async (path, allow, methods) => {
  const { call } = await startService();
  for (const method of methods) {
    const answer = await call(method, path);
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, allow]);
    expect(answer.json).toEqual(errorLike('method_not_allowed', 405));
    expect((await call(method, path, { key: null })).status).toBe(401);
  }
});

test.each(['/livez', '/readyz', '/healthz', '/openapi.json'])('%s needs no key, for GET and HEAD', async (path) => {
  const { call } = await startService();
  const answer = await call('GET', path, { key: null });
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
  const head = await call('HEAD', path, { key: null });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', answer.headers['content-length']]);
  const refused = await call('POST', path, { key: null });
  expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD']);
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
])('answers not_found to %s below the base path, with a key', async (path) => {
  const { call } = await startService();
  for (const method of ['GET', 'POST']) {
    const answer = await call(method, path);
    expect([answer.status, answer.json]).toEqual([404, errorLike('not_found', 404)]);
  }
  expect((await call('GET', path, { key: null })).status).toBe(401);
});

test.each(['/x', '/pets', '/v2/pets', '/v1x', '/livez/', '/LIVEZ', '/%zz', '/v1%2Fpets', '/favicon.ico'])(
  'answers not_found to %s outside the base path, without a key',
  async (path) => {
    const { call } = await startService();
    for (const method of ['GET', 'DELETE']) {
      const answer = await call(method, path, { key: null });
      expect([answer.status, answer.json]).toEqual([404, errorLike('not_found', 404)]);
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
  const answers = await Promise.all(Array.from({ length: 200 }, () => call('GET', path, { key: null })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
});
