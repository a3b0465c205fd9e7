import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { registerCountsByReason } from './gauges-and-counters.ts';

describe('registerCountsByReason', () => {
  test('counts events by reason, from 0', async () => {
    const registry = new Registry();
    const count = registerCountsByReason(registry, { name: 'losses_total', help: 'Losses.' }, ['theft', 'fire']);
    count('fire');
    count('fire');
    expect(await registry.metrics()).toBe(
      '# HELP losses_total Losses.\n# TYPE losses_total counter\n' +
        'losses_total{reason="theft"} 0\nlosses_total{reason="fire"} 2\n',
    );
  });
});
