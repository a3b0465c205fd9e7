import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * Registers a value that may rise and fall.
 *
 * @param read Called when the metrics are read.
 */
export function registerGauge(
  registry: Registry,
  { name, help }: { name: string; help: string },
  read: () => number,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** Registers a counter of events by reason. Every reason starts at 0, so that the first event is an increase. */
export function registerCountsByReason<R extends string>(
  registry: Registry,
  { name, help }: { name: string; help: string },
  reasons: readonly R[],
): (reason: R) => void {
  const counter = new Counter({ name, help, labelNames: ['reason'], registers: [registry] });
  for (const reason of reasons) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}

/**
 * Registers a metric that is always 1.
 *
 * @param labels What runs: its version and revision.
 */
export function registerBuildInfo(registry: Registry, labels: Readonly<Record<string, string>>): void {
  new Gauge({
    name: 'animal_store_build_info',
    help: 'Always 1, with the version that runs and, if the build says it, its revision.',
    labelNames: Object.keys(labels),
    registers: [registry],
  }).set(labels, 1);
}
