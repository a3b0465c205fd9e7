import { describe, expect } from 'vitest';
import { createRateLimit } from '../src/app/rate-limit.ts';
import { errorLike, KEY, OTHER_KEY, startApp, test } from './service.ts';

describe('the API key', () => {
  const PLAIN = 'Bearer realm="animal-store"';
  const INVALID = 'Bearer realm="animal-store", error="invalid_token"';

  test.for([
    ['GET', '/v1/pets?limit=0'],
    ['POST', '/v1/pets'],
    ['GET', '/v1/pets/x'],
    ['DELETE', '/v1/pets'],
    ['GET', '/%76%31/pets'],
  ] as const)('is required before anything else: %s %s', async ([method, path], { app: { call } }) => {
    const body = method === 'POST' ? { body: 'x'.repeat(100_000) } : {};
    const { status, headers, json } = await call(method, path, { key: null, ...body });
    expect([status, json]).toEqual([401, errorLike('unauthorized', 401, /missing API key/)]);
    expect(headers).toMatchObject({ 'www-authenticate': PLAIN, 'content-type': 'application/json' });
  });

  // The package app-kit tests the syntax of the field.
  test.for<[string, number, string?]>([
    [`bearer ${KEY}`, 200],
    [`Bearer ${KEY}x`, 401, INVALID],
    [`Bearer ${KEY.toUpperCase()}`, 401, INVALID],
    [`Bearer ${KEY} x`, 401, INVALID],
    [`Bearer ${KEY},${KEY}`, 401, INVALID],
    ['', 401, PLAIN],
    [`Basic ${Buffer.from(`me:${KEY}`).toString('base64')}`, 401, PLAIN],
    // Two fields, joined.
    [`Basic eDp5, Bearer ${KEY}`, 401, INVALID],
    [`Bearer ${KEY}, Basic eDp5`, 401, INVALID],
    ['Basic eDp5, Basic eDp5', 401, INVALID],
  ])('is read from Authorization: %s, which gets %d', async ([authorization, status, challenge], { app: { call } }) => {
    const response = await call('GET', '/v1/pets', { key: null, headers: { authorization } });
    expect([response.status, response.headers['www-authenticate']]).toEqual([status, challenge]);
  });
});

describe('RATE_LIMIT', () => {
  test('rejects a holder without quota with 429 and the time to wait, and serves the others', async () => {
    const { add, call } = startApp({ RATE_LIMIT: '3', CORS_ORIGINS: '*' });
    const responses = [
      await call('GET', '/v1/pets'),
      await add({ name: 'Rex', categoryId: 1 }),
      await call('GET', '/v1/pets/x'),
      await add({ name: 'Max', categoryId: 1 }),
      await call('GET', '/v1/pets/x'),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 201, 404, 429, 429]);
    for (const [index, { headers }] of responses.entries()) {
      expect(headers['ratelimit-policy']).toBe('"default";q=3;w=60');
      expect(headers['ratelimit']).toMatch(new RegExp(`^"default";r=${Math.max(2 - index, 0)};t=(?:60|5\\d)$`));
    }
    expect(responses[3]?.json).toEqual(errorLike('too_many_requests', 429, /3 requests in 60 s: try again in \d+ s/));
    expect(responses[3]?.headers['retry-after']).toMatch(/^(?:60|5\d)$/);
    // The quota stands beside the other fields of a route.
    const others = { 'access-control-allow-origin': '*', link: '</v1/pets>; rel="successor-version"' };
    for (const index of [2, 4]) expect(responses[index]?.headers).toMatchObject(others);
    // The rejected requests were not executed.
    expect((await call('GET', '/v1/pets', { key: OTHER_KEY })).json).toHaveLength(1);
    expect((await call('GET', '/v1/pets', { key: null })).status).toBe(401);
    expect((await call('GET', '/readyz', { key: null })).status).toBe(200);
  });

  test('counts in a window of a minute from the first request of each holder', () => {
    let now = 1_000;
    const count = createRateLimit(1, () => now);
    expect(count('the zoo').rejection).toBeNull();
    now += 58_001;
    const { headers, rejection } = count('the zoo');
    expect(headers['ratelimit']).toBe('"default";r=0;t=2');
    expect(rejection).toMatchObject({ headers: { 'retry-after': '2' } });
    expect(count('the farm').rejection).toBeNull();
    now += 1_999;
    expect(count('the zoo').rejection).toBeNull();
  });

  test('names at most the window as the time to wait, at any time of the clock', () => {
    for (let now = 0.001; now < 1e9; now *= 1.7) {
      const { headers } = createRateLimit(1, () => now)('the zoo');
      expect(headers['ratelimit'], String(now)).toBe('"default";r=0;t=60');
    }
  });
});

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
});
