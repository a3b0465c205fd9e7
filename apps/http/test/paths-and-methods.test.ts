import { expect } from 'vitest';
import { errorLike, startApp, test } from './service.ts';

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

test.for([...['/x', '/pets', '/v2/pets', '/v1x', '/livez/', '/LIVEZ', '/%zz', '/v1%2Fpets', '/favicon.ico']])(
  'responds with not_found to %s outside the base path, without a key',
  async (path, { app: { call } }) => {
    for (const method of ['GET', 'DELETE']) {
      const { status, json } = await call(method, path, { key: null });
      expect([status, json]).toEqual([404, errorLike('not_found', 404)]);
    }
  },
);

test('serves another base path, and nothing at /v1', async () => {
  const { call } = await startApp({ BASE_PATH: '/shop/v1' });
  expect((await call('GET', '/shop/v1/pets')).status).toBe(200);
  expect((await call('GET', '/shop/v1/pets/1')).headers['link']).toBe('</shop/v1/pets>; rel="successor-version"');
  expect((await call('GET', '/shop/v1', { key: null })).status).toBe(401);
  expect((await call('GET', '/shop', { key: null })).status).toBe(404);
  expect((await call('GET', '/v1/pets', { key: null })).status).toBe(404);
});

test('handles a long path in linear time', async ({ app: { call } }) => {
  const path = `/${'a'.repeat(15_800)}/`;
  const responses = await Promise.all(Array.from({ length: 200 }, () => call('GET', path, { key: null })));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([404]));
});

test.for([
  ['200', 'GET http://example.org/livez HTTP/1.1\r\nHost: example.org'],
  ['200', 'GET https://example.org:443/livez?x=y HTTP/1.1\r\nHost: example.org'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: [::1]:3000'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: [0:0::1]'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: localhost:'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: LOCALHOST:80'],
  ['200', 'GET HTTP://example.org/livez HTTP/1.1\r\nHost: x'],
  ['400', 'GET http:///livez HTTP/1.1\r\nHost: x'],
  ['400', 'GET /livez HTTP/1.1\r\nHost: [::1'],
  ['400', 'GET /livez HTTP/1.1\r\nHost: a:b'],
  // As load balancers probe.
  ['200', 'GET /livez HTTP/1.0'],
  ['302', 'GET http://example.org HTTP/1.1\r\nHost: x'],
  ['302', 'GET http://example.org?x HTTP/1.1\r\nHost: x'],
  ['400', 'GET ftp://example.org/livez HTTP/1.1\r\nHost: x'],
  ['400', 'GET /v1\\pets HTTP/1.1\r\nHost: x'],
  ['400', 'GET /livez#x HTTP/1.1\r\nHost: x'],
  ['200', 'GET /v1/../livez HTTP/1.1\r\nHost: x'],
  ['401', 'GET /livez/%2E%2e/v1/pets HTTP/1.1\r\nHost: x'],
  ['200', 'GET /livez?^`{|}"<> HTTP/1.1\r\nHost: x'],
] as const)('responds with %s to %j', async ([status, head], { service: { raw, unexpectedErrors } }) => {
  const received = await raw(`${head}\r\nConnection: close\r\n\r\n`);
  expect(received.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  expect(unexpectedErrors).toEqual([]);
});
