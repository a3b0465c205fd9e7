import { describe, expect, test } from 'vitest';
import { KEY, startApp } from '../../test/service.ts';

describe('CORS_ORIGINS', () => {
  const ORIGIN = 'https://example.org';
  const preflight = {
    origin: ORIGIN,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };

  test.each([
    ['', ORIGIN, undefined, undefined],
    [`http://localhost:8080, ${ORIGIN}`, ORIGIN, ORIGIN, 'Origin'],
    ['*', ORIGIN, '*', undefined],
    [ORIGIN, 'null', undefined, 'Origin'],
    [ORIGIN, 'https://evil.example', undefined, 'Origin'],
    [ORIGIN, `${ORIGIN}.evil.example`, undefined, 'Origin'],
  ])('=%j gives scripts of %j access as %s, with Vary: %s', async (CORS_ORIGINS, origin, allowed, vary) => {
    const { call } = startApp({ CORS_ORIGINS });
    // A script must be able to read why it was rejected.
    for (const key of [KEY, null]) {
      const { headers } = await call('GET', '/v1/pets', { key, headers: { origin } });
      // A cache must not hand the response for one origin to another.
      expect([headers['access-control-allow-origin'], headers['vary']]).toEqual([allowed, vary]);
    }
    const { headers } = await call('OPTIONS', '/v1/pets', { key: null, headers: { ...preflight, origin } });
    expect(headers['access-control-allow-origin']).toBe(allowed);
  });

  test('gives scripts access to the OpenAPI document, and not to the page that shows it', async () => {
    const { call } = startApp({ CORS_ORIGINS: '*' });
    for (const [path, allowed] of [
      ['/openapi.json', '*'],
      ['/docs', undefined],
      ['/docs/swagger-ui-bundle.js', undefined],
    ] as const) {
      const { status, headers } = await call('GET', path, { key: null, headers: { origin: ORIGIN } });
      expect([status, headers['access-control-allow-origin']]).toEqual([200, allowed]);
    }
    for (const [path, status] of [
      ['/docs', 405],
      ['/docs/nothing', 404],
    ] as const) {
      const rejected = await call('OPTIONS', path, { key: null, headers: preflight });
      expect([rejected.status, rejected.headers['access-control-allow-origin']]).toEqual([status, undefined]);
    }
  });

  test('names the fields that scripts may read and send, and the methods', async () => {
    const { call } = startApp({ CORS_ORIGINS: ORIGIN });
    const { headers } = await call('GET', '/v1/pets', { headers: { origin: ORIGIN } });
    expect(headers['access-control-expose-headers']).toBe(
      'Link,Location,Retry-After,Deprecation,Sunset,RateLimit,RateLimit-Policy,WWW-Authenticate,Allow,Idempotent-Replayed,X-Request-Id',
    );
    expect(await call('OPTIONS', '/v1/pets', { key: null, headers: preflight })).toMatchObject({
      ...{ status: 204, text: '' },
      headers: {
        'access-control-allow-methods': 'GET,HEAD,POST',
        'access-control-allow-headers':
          'Authorization,Content-Type,Idempotency-Key,X-Request-Id,traceparent,Mcp-Protocol-Version,Mcp-Session-Id,Mcp-Method,Mcp-Name',
        'access-control-max-age': '600',
      },
    });
  });

  test.for([
    ['', preflight],
    [ORIGIN, {}],
    [ORIGIN, { origin: ORIGIN }],
    [ORIGIN, { 'access-control-request-method': 'POST' }],
  ] as const)('=%j leaves OPTIONS with %o as any other method', async ([CORS_ORIGINS, headers]) => {
    const { call } = startApp({ CORS_ORIGINS });
    expect((await call('OPTIONS', '/v1/pets', { key: null, headers })).status).toBe(401);
    const reply = await call('OPTIONS', '/v1/pets', { headers });
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
  });

  test.each([
    ['', ORIGIN, 401],
    [ORIGIN, 'https://other.example', 204],
  ])('=%j says in the log why the preflight of a script of %s fails', async (CORS_ORIGINS, origin, status) => {
    const { call, logged } = startApp({ CORS_ORIGINS });
    expect((await call('OPTIONS', '/v1/pets', { key: null, headers: { ...preflight, origin } })).status).toBe(status);
    const reason = `a script of "${origin}" asked for access (CORS), which CORS_ORIGINS does not give`;
    expect(logged).toMatchObject([{ method: 'OPTIONS', status, reason }]);
  });
});
