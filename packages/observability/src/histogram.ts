import type { Histogram, Registry } from 'prom-client';

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

type Labels = Readonly<Record<string, string | number>>;

/** Counts one duration, in seconds. */
export type Observe = (seconds: number) => void;

/** Creates the series of a histogram for some labels. It must be called once for the same labels. */
export type CreateSeries = (labels: Labels) => Observe;

/**
 * Registers a histogram of durations with prom-client. It counts by itself because prom-client makes a key of all labels with
 * each observation: 150 to 300 ns instead of 5 to 20, and 3 % of the CPU time of a small request.
 */
export function registerHistogram(registry: Registry, { name, help }: { name: string; help: string }): CreateSeries {
  const samplers: (() => object[])[] = [];
  const metric = {
    name,
    get: async () => ({
      ...{ name, help, type: 'histogram', aggregator: 'sum' },
      values: samplers.flatMap((samples) => samples()),
    }),
  };
  // The registry uses no other members of a metric.
  registry.registerMetric(metric as unknown as Histogram);

  return (labels) => {
    /** The durations in each bucket alone; the last bucket is for those above every bound. */
    const counts = new Array<number>(BOUNDS.length + 1).fill(0);
    let sum = 0;
    samplers.push(() => {
      // Prometheus wants in each bucket the durations of all smaller ones, too.
      let count = 0;
      const buckets = counts.map((own, index) => {
        count += own;
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
      while (seconds > (BOUNDS[bucket] as number)) bucket += 1;
      counts[bucket] = (counts[bucket] as number) + 1;
      sum += seconds;
    };
  };
}
