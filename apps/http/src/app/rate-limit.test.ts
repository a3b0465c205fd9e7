import { describe, expect, test } from 'vitest';
import { errorLike, OTHER_KEY, startApp } from '../../test/service.ts';
import { createRateLimit } from './rate-limit.ts';

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
