import { AggregatorRegistry, type Registry } from 'prom-client';

/** The metrics of one process at one time. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

// Its type lacks the arguments and results: metrics with their values.
const merge = (snapshots: readonly MetricsSnapshot[]) => AggregatorRegistry.aggregate([...snapshots]);

/** Renders the metrics of several processes as those of one, in Prometheus' text format. */
export function renderMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return merge(snapshots).metrics();
}

/** Adds up counters and histograms. */
export function mergeCounts(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const merged = merge(snapshots).getMetricsAsArray() as unknown as MetricsSnapshot;
  return merged.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram');
}
