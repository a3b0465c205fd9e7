import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { errorLike, KEY, startApp, test } from './service.ts';

const PLAIN = 'Bearer realm="animal-store"';
const INVALID = 'Bearer realm="animal-store", error="invalid_token"';

test.for([
  ['GET', '/v1/pets?limit=0'],
  ['POST', '/v1/pets'],
  ['GET', '/v1/pets/x'],
  ['DELETE', '/v1/pets'],
  ['GET', '/%76%31/pets'],
] as const)('requires a key before anything else: %s %s', async ([method, path], { app: { call } }) => {
  const body = method === 'POST' ? { body: 'x'.repeat(100_000) } : {};
  const { status, headers, json } = await call(method, path, { key: null, ...body });
  expect([status, json]).toEqual([401, errorLike('unauthorized', 401, /missing API key/)]);
  expect(headers).toMatchObject({ 'www-authenticate': PLAIN, 'content-type': 'application/json' });
});

test.for<[string, number, string?]>([
  [`bearer ${KEY}`, 200],
  [`Bearer ${KEY}x`, 401, INVALID],
  [`Bearer ${KEY.toUpperCase()}`, 401, INVALID],
  [`Bearer ${KEY} x`, 401, INVALID],
  [`Bearer ${KEY},${KEY}`, 401, INVALID],
  ['', 401, PLAIN],
  [`Basic ${Buffer.from(`me:${KEY}`).toString('base64')}`, 401, PLAIN],
])('responds to Authorization: %s with %d', async ([authorization, status, challenge], { app: { call } }) => {
  const response = await call('GET', '/v1/pets', { key: null, headers: { authorization } });
  expect([response.status, response.headers['www-authenticate']]).toEqual([status, challenge]);
});

test.for([
  [`Bearer ${KEY}`, `Bearer ${KEY}`],
  ['Basic eDp5', `Bearer ${KEY}`],
  [`Bearer ${KEY}`, 'Basic eDp5'],
  ['Basic eDp5', 'Basic eDp5'],
])(
  'rejects two Authorization fields, even if they are valid: %s, %s',
  async ([first, second], { service: { raw } }) => {
    const fields = `Host: x\r\nAuthorization: ${first}\r\nauthorization: ${second}\r\nConnection: close\r\n`;
    const response = await raw(`GET /v1/pets HTTP/1.1\r\n${fields}\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(response).toContain(`www-authenticate: ${INVALID}\r\n`);
  },
);

test('accepts a key that is configured by its digest, and not the digest itself', async () => {
  const key = 'a-key-that-is-nowhere-written-down';
  const digest = createHash('sha256').update(key).digest('hex');
  const { call } = await startApp({ API_KEYS: `sha256:${digest}` });
  expect((await call('GET', '/v1/pets', { key })).status).toBe(200);
  for (const wrong of [digest, `sha256:${digest}`, KEY]) {
    expect((await call('GET', '/v1/pets', { key: wrong })).status).toBe(401);
  }
});

test('ignores a key in the query or in another field', async ({ app: { call } }) => {
  const headers = {
    ...{ 'x-api-key': KEY, cookie: `key=${KEY}`, 'proxy-authorization': `Bearer ${KEY}` },
    ...{ 'x-fields': 'authorization', 'x-key': `Bearer ${KEY}` },
  };
  const { status, headers: given } = await call('GET', `/v1/pets?access_token=${KEY}`, { key: null, headers });
  expect([status, given['www-authenticate']]).toEqual([401, PLAIN]);
});
