import { describe, expect } from 'vitest';
import { errorLike, KEY, test } from '../../test/service.ts';

describe('the API key', () => {
  const PLAIN = 'Bearer realm="animal-store"';
  const INVALID = 'Bearer realm="animal-store", error="invalid_token"';

  test.for([
    ['GET', '/v1/pets?limit=0'],
    ['POST', '/v1/pets'],
    ['GET', '/v1/pets/x'],
    ['DELETE', '/v1/pets'],
    ['GET', '/%76%31/pets'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
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
