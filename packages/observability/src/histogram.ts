import type { Histogram, Registry } from 'prom-client';

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

type Labels = Readonly<Record<string, string | number>>;

/** Counts one duration, in seconds. */
export type Observe = (seconds: number) => void;

/**
 * Registers a histogram of durations with prom-client. It counts by itself because prom-client makes a key of all labels with
 * each observation, at ten times the cost.
 *
 * @returns Creates the series for some labels. It must be called once for the same labels.
 */
export function registerHistogram(
  registry: Registry,
  { name, help }: { name: string; help: string },
): (labels: Labels) => Observe {
  const series: (() => object[])[] = [];
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    async get() {
      return { name, help, type: 'histogram', aggregator: 'sum', values: series.flatMap((samples) => samples()) };
    },
  };
  // The registry uses no other members of a metric.
  registry.registerMetric(metric as unknown as Histogram);

  return (labels) => {
    /** By bucket, not cumulative; the last is for durations above every bound. */
    const counts = new Array<number>(BOUNDS.length + 1).fill(0);
    let sum = 0;
    /** Cumulative, as Prometheus wants it. */
    series.push(() => {
      let count = 0;
      const buckets = counts.map((more, index) => {
        count += more;
        return { metricName: `${name}_bucket`, labels: { le: BOUNDS[index] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    return (seconds) => {
      let bucket = 0;
      while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
      counts[bucket] = (counts[bucket] as number) + 1;
      sum += seconds;
    };
  };
}
