import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { registerRequestDurations } from './request-durations.ts';

test('counts a duration in every bucket whose bound it does not exceed, and adds it to the sum', async () => {
  const registry = new Registry();
  const count = registerRequestDurations(registry);
  for (const seconds of [0.001, 0.0011, 5, 5.1]) count('GET', '/v1/pets', 200, seconds);
  count('GET', '/v1/pets', 404, 0);
  const text = await registry.metrics();
  const value = (name: string, status: number, le = '') =>
    text
      .split('\n')
      .find(
        (line) =>
          line.startsWith(`http_request_duration_seconds_${name}{`) &&
          line.includes(`status="${status}"`) &&
          line.includes(le),
      )
      ?.split(' ')
      .at(-1);
  expect(text).toContain('# TYPE http_request_duration_seconds histogram\n');
  expect(value('bucket', 200, 'le="0.001"')).toBe('1');
  expect(value('bucket', 200, 'le="0.0025"')).toBe('2');
  expect(value('bucket', 200, 'le="5"')).toBe('3');
  expect(value('bucket', 200, 'le="+Inf"')).toBe('4');
  expect(value('count', 200)).toBe('4');
  expect(Number(value('sum', 200))).toBeCloseTo(10.1021);
  expect(value('count', 404)).toBe('1');
});
