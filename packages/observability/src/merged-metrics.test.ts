import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { registerCountsByReason, registerGauge } from './gauges-and-counters.ts';
import { registerHistogram } from './histogram.ts';
import { mergeCounts, renderMetrics } from './merged-metrics.ts';

/** The metrics of a process with this many connections, which were all counted and timed. */
async function processWith(connections: number) {
  const registry = new Registry();
  registerGauge(registry, { name: 'connections', help: 'Connections.' }, () => connections);
  const count = registerCountsByReason(registry, { name: 'events_total', help: 'Events.' }, ['open', 'close']);
  const observe = registerHistogram(registry, { name: 'times', help: 'Times.' })({});
  for (let connection = 0; connection < connections; connection += 1) {
    count('open');
    observe(0.5);
  }
  return registry.getMetricsAsJSON();
}

test('renderMetrics and mergeCounts add up the metrics of processes, the latter without gauges', async () => {
  const processes = [await processWith(2), await processWith(3)];
  const text = await renderMetrics(processes);
  expect(text).toMatch(/^connections 5$/m);
  expect(text).toMatch(/^events_total\{reason="open"\} 5$/m);
  expect(text).toMatch(/^events_total\{reason="close"\} 0$/m);
  expect(text).toMatch(/^times_count 5$/m);
  const ended = mergeCounts(processes);
  expect(ended.map(({ name }) => name).sort()).toEqual(['events_total', 'times']);
  expect(await renderMetrics([ended, await processWith(1)])).toMatch(/^times_count 6$/m);
});
