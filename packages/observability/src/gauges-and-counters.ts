import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers a value that may rise and fall. `read` is called when the metrics are read. */
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
