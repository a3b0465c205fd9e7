import type { Worker } from 'node:cluster';
import type { MetricsSnapshot } from '@animal-store/observability';

/** From the supervisor to a worker. */
export type ToWorker =
  | { readonly type: 'stop' }
  /** Asks for the metrics of the worker. */
  | { readonly type: 'collect' }
  /** The metrics of all workers, in Prometheus' text format. */
  | { readonly type: 'metrics'; readonly text: string };

/** From a worker to the supervisor. */
export type ToSupervisor =
  /** The worker receives messages from now on. */
  | { readonly type: 'ready' }
  /** Asks for the metrics of all workers. */
  | { readonly type: 'read metrics' }
  | { readonly type: 'collected'; readonly snapshot: MetricsSnapshot };

/** A worker that has ended meanwhile gets nothing. */
export function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
