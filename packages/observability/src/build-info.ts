import { Gauge, type Registry } from 'prom-client';

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
