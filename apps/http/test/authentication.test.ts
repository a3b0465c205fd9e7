import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { errorLike, KEY, startService } from './service.ts';

const PLAIN = 'Bearer realm="animal-store"';
const INVALID = 'Bearer realm="animal-store", error="invalid_token"';

test('requires a key before anything else, for every path and method below the base path', async () => {
  const { call } = await startService();
  const body = 'x'.repeat(100_000);
  for (const [method, path, sent] of [
    ['GET', '/v1/pets'],
    ['GET', '/v1/pets?limit=0'],
    ['POST', '/v1/pets', body],
    ['GET', '/v1/pets/1'],
    ['GET', '/v1/pets/x'],
    ['DELETE', '/v1/pets'],
    ['OPTIONS', '/v1/pets'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/%76%31/pets'],
    ['GET', '/v1/%zz'],
  ] as const) {
    const response = await call(method, path, { key: null, ...(sent === undefined ? {} : { body: sent }) });
    expect([method, path, response.status]).toEqual([method, path, 401]);
    expect(response.headers['www-authenticate']).toBe(PLAIN);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.json).toEqual(errorLike('unauthorized', 401, /missing API key/));
  }
});

test.each([
  [`Bearer ${KEY}`, 200, undefined],
  [`bearer ${KEY}`, 200, undefined],
  [`BEARER   ${KEY}`, 200, undefined],
  [`Bearer ${KEY}x`, 401, INVALID],
  [`Bearer ${KEY.toUpperCase()}`, 401, INVALID],
  [`Bearer ${KEY} x`, 401, INVALID],
  [`Bearer ${KEY},${KEY}`, 401, INVALID],
  [`Bearer\t${KEY}`, 401, INVALID],
  ['Bearer', 401, PLAIN],
  ['', 401, PLAIN],
  [`Basic ${Buffer.from(`me:${KEY}`).toString('base64')}`, 401, PLAIN],
  [KEY, 401, PLAIN],
])('responds to Authorization: %s with %d', async (authorization, status, challenge) => {
  const { call } = await startService();
  const response = await call('GET', '/v1/pets', { key: null, headers: { authorization } });
  expect(response.status).toBe(status);
  expect(response.headers['www-authenticate']).toBe(challenge);
});

test('rejects two Authorization fields, even if both are valid', async () => {
  const { raw } = await startService();
  for (const [first, second] of [
    [`Bearer ${KEY}`, `Bearer ${KEY}`],
    ['Basic eDp5', `Bearer ${KEY}`],
    [`Bearer ${KEY}`, 'Basic eDp5'],
  ]) {
    const response = await raw(
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${first}\r\nauthorization: ${second}\r\nConnection: close\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(response).toContain(`www-authenticate: ${INVALID}\r\n`);
  }
});

test('ignores a field whose value is the name Authorization', async () => {
  const { call } = await startService();
  const headers = { 'x-fields': 'authorization', 'x-key': `Bearer ${KEY}` };
  expect((await call('GET', '/v1/pets', { headers })).status).toBe(200);
  expect((await call('GET', '/v1/pets', { headers, key: null })).headers['www-authenticate']).toBe(PLAIN);
});

test('accepts a key that is configured by its digest, and not the digest itself', async () => {
  const key = 'a-key-that-is-nowhere-written-down';
  const digest = createHash('sha256').update(key).digest('hex');
  const { call } = await startService({ API_KEYS: `sha256:${digest}` });
  expect((await call('GET', '/v1/pets', { key })).status).toBe(200);
  for (const wrong of [digest, `sha256:${digest}`, KEY]) {
    expect((await call('GET', '/v1/pets', { key: wrong })).status).toBe(401);
  }
});

test('ignores a key in the query or in another field', async () => {
  const { call } = await startService();
  const headers = { 'x-api-key': KEY, cookie: `key=${KEY}`, 'proxy-authorization': `Bearer ${KEY}` };
  expect((await call('GET', `/v1/pets?access_token=${KEY}`, { key: null, headers })).status).toBe(401);
});
