import { unavailable } from '@animal-store/domain/ports';
import { expect, vi } from 'vitest';
import { createRateLimit } from '../src/access/rate-limit.ts';
import { errorLike, OTHER_KEY, startService, test } from './service.ts';

test('counts nothing without RATE_LIMIT', async ({ service: { call } }) => {
  const { headers } = await call('GET', '/v1/pets');
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});

// A shared count that takes more than 500 ms is replaced by the count of the process.
test('rejects a holder without quota with 429 and the time to wait, and serves the others', { retry: 2 }, async () => {
  const { add, call } = await startService({ RATE_LIMIT: '3' });
  // The database is open before the first count.
  await expect.poll(async () => (await call('GET', '/readyz', { key: null })).status).toBe(200);
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
  const { call } = await startService({ RATE_LIMIT: '1', CORS_ORIGINS: '*' });
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

const DEFECT = new TypeError('a defect');

test.each([
  [
    'the storage',
    unavailable(new Error('connect ECONNREFUSED')),
    [],
    [['requests are counted by this process alone: the shared count failed', { reason: 'connect ECONNREFUSED' }]],
  ],
  ['a defect', DEFECT, [[DEFECT]], []],
])('counts alone if the shared count fails because of %s, and reports it', async (_, failure, reported, warned) => {
  const storage = { createRateLimiter: () => ({ take: () => Promise.reject(failure) }) };
  const [report, warn] = [vi.fn(), vi.fn()];
  const count = createRateLimit(5, storage, report, warn);
  expect(await count?.('the zoo')).toMatchObject({ headers: { ratelimit: '"default";r=4;t=60' }, rejection: null });
  expect([report.mock.calls, warn.mock.calls]).toEqual([reported, warned]);
});

test.each([
  [59_001, 60],
  [2_000, 2],
  [1_001, 2],
  [1, 1],
  // A Retry-After of no second would be ignored.
  [0, 1],
])('has a holder wait %d ms as %d s', async (resetsIn, seconds) => {
  const storage = { createRateLimiter: () => ({ take: () => ({ allowed: false, remaining: 0, resetsIn }) }) };
  const fail = () => expect.unreachable();
  const count = createRateLimit(5, storage, fail, fail);
  const { headers, rejection } = (await count?.('the zoo')) ?? {};
  expect(headers?.['ratelimit']).toBe(`"default";r=0;t=${Math.ceil(resetsIn / 1_000)}`);
  expect(rejection?.headers).toEqual({ 'retry-after': String(seconds) });
  expect(rejection?.message).toContain(`try again in ${seconds} s`);
});
