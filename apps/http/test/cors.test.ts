import { expect } from 'vitest';
import { startApp, test } from './service.ts';

const ORIGIN = 'https://example.org';
const preflight = {
  origin: ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
};

test('gives scripts of other origins no access without CORS_ORIGINS', async ({ app: { call } }) => {
  const { headers } = await call('GET', '/v1/pets', { headers: { origin: ORIGIN } });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect((await call('OPTIONS', '/v1/pets', { key: null, headers: preflight })).status).toBe(401);
});

test.each([
  [`http://localhost:8080, ${ORIGIN}`, ORIGIN],
  ['*', '*'],
])('CORS_ORIGINS=%s gives %s access to responses and their header fields', async (origins, allowed) => {
  const { call } = await startApp({ CORS_ORIGINS: origins });
  // A script must be able to read why it was rejected.
  for (const credentials of [{}, { key: null }]) {
    const { headers } = await call('GET', '/v1/pets', { headers: { origin: ORIGIN }, ...credentials });
    expect(headers['access-control-allow-origin']).toBe(allowed);
    // A cache must not hand the response for one origin to another.
    expect(headers['vary']).toBe(allowed === '*' ? undefined : 'Origin');
    expect(headers['access-control-expose-headers']).toBe(
      'Link,Location,Retry-After,Deprecation,Sunset,RateLimit,RateLimit-Policy,WWW-Authenticate,Allow,Idempotent-Replayed,X-Request-Id',
    );
  }
  const { status, text, headers } = await call('OPTIONS', '/v1/pets', { key: null, headers: preflight });
  expect([status, text]).toEqual([204, '']);
  expect(headers).toMatchObject({
    'access-control-allow-origin': allowed,
    'access-control-allow-methods': 'GET,HEAD,POST',
    'access-control-allow-headers':
      'Authorization,Content-Type,Idempotency-Key,X-Request-Id,traceparent,Mcp-Protocol-Version,Mcp-Session-Id,Mcp-Method,Mcp-Name',
    'access-control-max-age': '600',
  });
});

test('responds to an OPTIONS request that is no preflight as without CORS_ORIGINS', async () => {
  const { call } = await startApp({ CORS_ORIGINS: ORIGIN });
  for (const headers of [{}, { origin: ORIGIN }, { 'access-control-request-method': 'POST' }]) {
    expect((await call('OPTIONS', '/v1/pets', { key: null, headers })).status).toBe(401);
    const { status, headers: fields } = await call('OPTIONS', '/v1/pets', { headers });
    expect([status, fields['allow']]).toEqual([405, 'GET, HEAD, POST']);
  }
});

test('gives an origin that is not listed no access, and sends Vary', async () => {
  const { call } = await startApp({ CORS_ORIGINS: ORIGIN });
  for (const origin of ['https://evil.example', `${ORIGIN}.evil.example`, 'null', undefined]) {
    const { headers } = await call('GET', '/v1/pets', { headers: origin === undefined ? {} : { origin } });
    expect([headers['access-control-allow-origin'], headers['vary']]).toEqual([undefined, 'Origin']);
  }
  const headers = { ...preflight, origin: 'https://evil.example' };
  const preflighted = await call('OPTIONS', '/v1/pets', { key: null, headers });
  expect(preflighted.headers['access-control-allow-origin']).toBeUndefined();
  expect((await call('DELETE', '/v1/pets', { headers: preflight })).status).toBe(405);
});
