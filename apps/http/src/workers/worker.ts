import cluster from 'node:cluster';
import type { Registry } from '@animal-store/observability';
import type { ToSupervisor, ToWorker } from './messages.ts';

/** The supervisor of this process. */
export interface Supervisor {
  /** Reads the metrics of all workers. One call at a time. */
  readMetrics(): Promise<string>;
  /** Executes the requests of the supervisor from now on. */
  serve(worker: { readonly registry: Registry; readonly stop: () => void }): void;
  /** Lets the process end. */
  disconnect(): void;
}

/** The supervisor of this process; null if it runs alone. */
export function findSupervisor(): Supervisor | null {
  const { worker } = cluster;
  if (worker === undefined) return null;
  const send = (message: ToSupervisor) => worker.send(message, () => {});
  let receiveMetrics: (text: string) => void = () => {};
  return {
    readMetrics: () =>
      new Promise((resolve) => {
        receiveMetrics = resolve;
        send({ type: 'read metrics' });
      }),
    serve({ registry, stop }) {
      worker.on('message', (message: ToWorker) => {
        if (message.type === 'stop') stop();
        else if (message.type === 'metrics') receiveMetrics(message.text);
        else void registry.getMetricsAsJSON().then((snapshot) => send({ type: 'collected', snapshot }));
      });
      send({ type: 'ready' });
    },
    disconnect: () => void worker.disconnect(),
  };
}

/** Whether this process is alone or the first worker, and so writes messages for all. */
export const isFirst = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;
