import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { registerHistogram } from './histogram.ts';

describe('registerHistogram', () => {
  test('counts a duration in every bucket whose bound it does not exceed, and adds it to the sum', async () => {
    const registry = new Registry();
    const series = registerHistogram(registry, { name: 'durations_seconds', help: 'Durations.' });
    const observe = series({ status: 200 });
    for (const seconds of [0.001, 0.0011, 5, 5.1]) observe(seconds);
    series({ status: 404 })(0);
    const text = await registry.metrics();
    const value = (name: string, status: number, le = '') =>
      text
        .split('\n')
        .find(
          (line) =>
            line.startsWith(`durations_seconds_${name}{`) && line.includes(`status="${status}"`) && line.includes(le),
        )
        ?.split(' ')
        .at(-1);
    expect(text).toContain('# TYPE durations_seconds histogram\n');
    expect(value('bucket', 200, 'le="0.001"')).toBe('1');
    expect(value('bucket', 200, 'le="0.0025"')).toBe('2');
    expect(value('bucket', 200, 'le="5"')).toBe('3');
    expect(value('bucket', 200, 'le="+Inf"')).toBe('4');
    expect(value('count', 200)).toBe('4');
    expect(Number(value('sum', 200))).toBeCloseTo(10.1021);
    expect(value('count', 404)).toBe('1');
  });
});
