import { expect } from 'vitest';
import { errorLike, test } from './service.ts';

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
