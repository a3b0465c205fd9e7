import { Gauge, type Registry } from 'prom-client';

/** Registers a value that may rise and fall. @param read Called when the metrics are read. */
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
