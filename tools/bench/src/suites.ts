import type { BenchOptions } from './options.ts';
import type { Progress } from './progress.ts';

/** One question, and the program that measures it. */
interface Suite {
  readonly summary: string;
  readonly load: () => Promise<{ run(options: BenchOptions, progress: Progress): Promise<void> }>;
}

export const SUITES: Readonly<Record<string, Suite>> = {
  peers: { summary: 'the service beside other servers (the default)', load: () => import('./suites/peers.ts') },
  growth: { summary: 'the cost of requests while the catalogue grows', load: () => import('./suites/growth.ts') },
  heap: { summary: 'bytes of memory for a pet, beside a Map of objects', load: () => import('./suites/heap.ts') },
  start: { summary: 'time to the first response, and memory while idle', load: () => import('./suites/start.ts') },
  overload: { summary: 'the service under twice the load it can serve', load: () => import('./suites/overload.ts') },
  instances: {
    summary: 'several instances of the service on one MongoDB: cost of requests, ids, idempotency',
    load: () => import('./suites/instances.ts'),
  },
  charts: {
    summary: 'writes the charts of docs/ from the results of peers and growth',
    load: () => import('./suites/charts.ts'),
  },
  checkout: {
    summary: 'the service beside that of another checkout of this repository: checkout FOLDER',
    load: () => import('./suites/checkout.ts'),
  },
};
