import type { Worker } from 'node:cluster';
import { singleFlight, withTimeout } from '@animal-store/async';
import { type MetricsSnapshot, mergeCounts, renderMetrics } from '@animal-store/observability';
import { send, type ToSupervisor } from './messages.ts';

/** A worker that is busy for longer counts with its metrics of the last time. In milliseconds. */
const TIMEOUT = 1_000;

const LATE = new Error('a worker is busy');

/** The metrics of all workers as one. */
export interface CollectedMetrics {
  receive(worker: Worker, message: ToSupervisor): void;
  /** Keeps the counts of a worker that has ended: a sum of counters that falls looks like a restart. */
  retire(worker: Worker): void;
}

export function collectMetrics(workers: ReadonlySet<Worker>): CollectedMetrics {
  const latest = new Map<Worker, MetricsSnapshot>();
  const waiting = new Map<Worker, () => void>();
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
    return renderMetrics([...latest.values(), retired]);
  });

  return {
    receive(worker, message) {
      if (message.type === 'read metrics') {
        void (async () => send(worker, { type: 'metrics', text: await read() }))();
      } else {
        latest.set(worker, message.snapshot);
        waiting.get(worker)?.();
      }
    },
    retire(worker) {
      retired = mergeCounts([retired, latest.get(worker) ?? []]);
      latest.delete(worker);
      waiting.get(worker)?.();
      waiting.delete(worker);
    },
  };
}
