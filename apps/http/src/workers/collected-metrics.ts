import type { Worker } from 'node:cluster';
import { singleFlight, withTimeout } from '@animal-store/async';
import { type MetricsSnapshot, mergeCounts, renderMetrics } from '@animal-store/observability';
import { send, type ToSupervisor } from './messages.ts';

/** The last metrics of a worker count if it does not respond within this time, in milliseconds. */
const TIMEOUT = 1_000;

const LATE = new Error('a worker is busy');

/** The metrics of all workers as one. */
export interface CollectedMetrics {
  receive(worker: Worker, message: ToSupervisor): void;
  /** Keeps the counts of a worker that has ended: a sum of counters that falls looks like a restart. */
  retire(worker: Worker): void;
}

/** @param linesLost The number of lines of all logs that this process could not write. */
export function collectMetrics(workers: ReadonlySet<Worker>, linesLost: () => number): CollectedMetrics {
  const latest = new Map<Worker, MetricsSnapshot>();
  const waiting = new WeakMap<Worker, () => void>();
  let retired: MetricsSnapshot = [];

  const read = singleFlight(async () => {
    const replies = [...workers].map(
      (worker) =>
        new Promise<void>((resolve) => {
          waiting.set(worker, resolve);
          send(worker, { type: 'collect' });
        }),
    );
    await withTimeout(Promise.all(replies), TIMEOUT, LATE).catch(() => {});
    // The first snapshot decides how a metric is merged.
    return renderMetrics([ownMetrics(linesLost()), ...latest.values(), retired]);
  });

  return {
    receive(worker, message) {
      if (message.type === 'read metrics') {
        void (async () => send(worker, { type: 'metrics', text: await read() }))();
      } else if (message.type === 'collected') {
        latest.set(worker, message.snapshot);
        waiting.get(worker)?.();
      }
    },
    retire(worker) {
      retired = mergeCounts([retired, latest.get(worker) ?? []]);
      latest.delete(worker);
      waiting.get(worker)?.();
    },
  };
}

/** The metrics of this process: the lines that it has lost, and a time of start that changes with each worker's. */
function ownMetrics(linesLost: number): MetricsSnapshot {
  const metric = (name: string, type: string, aggregator: string, help: string, value: number) => {
    return { name, type, aggregator, help, values: [{ value, labels: {} }] };
  };
  return [
    metric(
      'animal_store_log_lines_lost_total',
      'counter',
      'sum',
      'Lines of the log that could not be written.',
      linesLost,
    ),
    metric('process_start_time_seconds', 'gauge', 'max', 'Start of the latest worker, in seconds since the epoch.', 0),
  ] as unknown as MetricsSnapshot;
}
