import { expect } from 'vitest';
import { KEY, test } from './service.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const LONG = 'x'.repeat(128);

test('returns a well-formed X-Request-Id of the request, otherwise a new one', async ({ app: { call } }) => {
  const idOf = async (given?: string) => {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    return String((await call('GET', '/v1/pets', { headers })).headers['x-request-id']);
  };
  for (const given of ['x', 'Root=1-67891233-abcdef012345678912345678', 'a.b:c/d+e=f@g-h_i', LONG]) {
    expect(await idOf(given)).toBe(given);
  }
  for (const given of [undefined, '', 'a b', '"', '{}', '\u00e9', `${LONG}x`, 'a,b']) {
    expect(await idOf(given)).toMatch(UUID);
  }
  expect(await idOf()).not.toBe(await idOf());
});

test.for([
  ['GET', '/v1/pets', KEY],
  ['GET', '/nothing', null],
] as const)('sends security header fields and an id: %s %s, key %s', async ([method, path, key], { app: { call } }) => {
  const { headers } = await call(method, path, { key });
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-request-id': expect.stringMatching(UUID),
  });
});
