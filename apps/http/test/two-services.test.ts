import { expect, test } from 'vitest';
import { startService } from './service.ts';

test('two services of one process share neither pets, quotas, metrics nor their end', async () => {
  const first = await startService({ RATE_LIMIT: '3' });
  const second = await startService({ RATE_LIMIT: '3', BASE_PATH: '/second/v1' });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await first.add({ name: 'Rex', categoryId: 1 })).status);
  expect(statuses).toEqual([201, 201, 201, 429]);
  const { status, text, headers } = await second.call('GET', '/second/v1/pets');
  expect([status, text, headers['ratelimit']]).toEqual([200, '[]', expect.stringContaining('r=2;')]);
  const [one, other] = [await first.call('GET', '/metrics'), await second.call('GET', '/metrics')];
  expect(one.text).toMatch(/^http_request_duration_seconds_count\{method="POST",.*status="201"\} 3$/m);
  expect(other.text).not.toContain('method="POST"');
  await first.stop();
  await expect(first.call('GET', '/livez')).rejects.toThrow(/ECONNREFUSED/);
  expect((await second.call('GET', '/second/v1/pets')).status).toBe(200);
});
