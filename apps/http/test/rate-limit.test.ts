import { expect } from 'vitest';
import { createRateLimit } from '../src/app/rate-limit.ts';
import { errorLike, OTHER_KEY, startApp, test } from './service.ts';

test('counts nothing without RATE_LIMIT', async ({ app: { call } }) => {
  const { headers } = await call('GET', '/v1/pets');
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});

test('rejects a holder without quota with 429 and the time to wait, and serves the others', async () => {
  const { add, call } = await startApp({ RATE_LIMIT: '3' });
  const responses = [
    await call('GET', '/v1/pets'),
    await add({ name: 'Rex', categoryId: 1 }),
    await call('GET', '/v1/pets/x'),
    await add({ name: 'Max', categoryId: 1 }),
    await call('GET', '/v1/nothing'),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 201, 404, 429, 429]);
  for (const [index, { headers }] of responses.entries()) {
    expect(headers['ratelimit-policy']).toBe('"default";q=3;w=60');
    expect(headers['ratelimit']).toMatch(new RegExp(`^"default";r=${Math.max(2 - index, 0)};t=(?:60|5\\d)$`));
  }
  expect(responses[3]?.json).toEqual(errorLike('too_many_requests', 429, /3 requests in 60 s: try again in \d+ s/));
  const wait = Number(responses[3]?.headers['retry-after']);
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(60);
  // The rejected requests were not executed.
  expect((await call('GET', '/v1/pets', { key: OTHER_KEY })).json).toHaveLength(1);
  expect((await call('GET', '/v1/pets', { key: null })).status).toBe(401);
  expect((await call('GET', '/readyz', { key: null })).status).toBe(200);
});

test('adds the quota to the other header fields', async () => {
  const { call } = await startApp({ RATE_LIMIT: '1', CORS_ORIGINS: '*' });
  for (const status of [404, 429]) {
    const { headers, ...reply } = await call('GET', '/v1/pets/1');
    expect([reply.status, headers['ratelimit'], headers['access-control-allow-origin'], headers['link']]).toEqual([
      status,
      expect.stringMatching(/^"default";r=0;/),
      '*',
      '</v1/pets>; rel="successor-version"',
    ]);
  }
});

test('counts in a window of a minute from the first request of each holder', () => {
  let now = 1_000;
  const count = createRateLimit(1, () => now);
  expect(count('the zoo').rejection).toBeNull();
  now += 58_001;
  const { headers, rejection } = count('the zoo');
  expect(headers['ratelimit']).toBe('"default";r=0;t=2');
  expect(rejection).toMatchObject({
    headers: { 'retry-after': '2' },
    message: expect.stringContaining('try again in 2 s'),
  });
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
