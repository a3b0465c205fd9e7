import { DomainError } from '@animal-store/domain';
import { expect, test } from 'vitest';
import { withFallback } from '../src/rate-limit.ts';
import { errorLike, OTHER_KEY, startService } from './service.ts';

test('without RATE_LIMIT nobody is counted', async () => {
  const { call } = await startService();
  const { headers } = await call('GET', '/v1/pets');
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});

test('a holder that has used up its share is answered 429 with the time to wait; others are not', async () => {
  const { add, call } = await startService({ RATE_LIMIT: '3' });
  const answers = [
    await call('GET', '/v1/pets'),
    await add({ name: 'Rex', categoryId: 1 }),
    await call('GET', '/v1/pets/x'),
    await add({ name: 'Max', categoryId: 1 }),
    await call('GET', '/v1/nothing'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 201, 404, 429, 429]);
  for (const [index, { headers }] of answers.entries()) {
    expect(headers['ratelimit-policy']).toBe('"default";q=3;w=60');
    expect(headers['ratelimit']).toMatch(new RegExp(`^"default";r=${Math.max(2 - index, 0)};t=(?:60|5\\d)$`));
  }
  expect(answers[3]?.json).toEqual(errorLike('too_many_requests', 429, /3 requests in 60 s: try again in \d+ s/));
  const wait = Number(answers[3]?.headers['retry-after']);
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(60);
  // What was refused was not carried out.
  expect((await call('GET', '/v1/pets', { key: OTHER_KEY })).json).toHaveLength(1);
  expect((await call('GET', '/v1/pets', { key: null })).status).toBe(401);
  expect((await call('GET', '/readyz', { key: null })).status).toBe(200);
});

test('while the shared count is out of reach, each process counts for itself', async () => {
  const share = { allowed: true, remaining: 1, resetsIn: 1_000 };
  const limiter = withFallback(
    { take: () => Promise.reject(new DomainError('service_unavailable', 'out of reach')) },
    { take: () => share },
  );
  expect(await limiter.take('the zoo')).toBe(share);
});
