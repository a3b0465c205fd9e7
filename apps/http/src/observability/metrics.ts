import type { Version } from '@animal-store/app-kit';
import { DomainError } from '@animal-store/domain';
import { mapPorts, type Ports } from '@animal-store/domain/ports';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isUnexpected } from '../app/errors.ts';
import { type Observe, UNMATCHED } from '../app/record.ts';
import type { StorageCheck } from './readiness.ts';

export interface MetricsOptions {
  readonly version: Version;
  /** How many requests have no response yet. */
  readonly inFlight: () => number;
  /** How many lines of the log were dropped since the start. */
  readonly droppedLines: () => number;
  readonly storageCheck: StorageCheck;
  /** Called if a call of the storage can't be recorded. */
  readonly onError: (error: unknown) => void;
}

export interface Metrics {
  /** Records a request. */
  readonly observe: Observe;
  /** The ports of a storage, whose calls are timed. */
  instrument(storage: Ports): Ports;
  readonly contentType: string;
  /** The metrics in Prometheus' text format. */
  read(): Promise<string>;
}

/** In seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Anyone can send Node's 35 methods. A series for each of them and each status would triple the cost of `/metrics`. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);
/** As in the semantic conventions of OpenTelemetry. */
const OTHER_METHOD = '_OTHER';

export function createMetrics({ version, inFlight, droppedLines, storageCheck, onError }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the header section of a request to its response, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  });
  const calls = new Histogram({
    name: 'storage_call_duration_seconds',
    help: 'Duration of calls of the storage, by operation and outcome (ok, unavailable, error).',
    labelNames: ['operation', 'outcome'],
    buckets: BUCKETS,
    registers,
  });
  // `increase()` does not see the first value of a series, so both counters have one before anything fails.
  const defects = new Counter({
    name: 'internal_errors_total',
    help: 'Requests that ended in an unexpected error: a defect of the service.',
    registers,
  });
  const failures = new Counter({
    name: 'storage_call_failures_total',
    help: 'Calls of the storage that failed, by outcome (unavailable, error).',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['unavailable', 'error']) failures.inc({ outcome }, 0);
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        this.set(await read());
      },
    });
  gauge('http_requests_in_flight', 'Requests that have no response yet.', inFlight);
  gauge('storage_up', 'Whether the storage is available (1) or not (0).', () =>
    storageCheck.check().then(
      () => 1,
      () => 0,
    ),
  );
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Lines of the log that were not written, because the reader is slow or gone, or the disk is full.',
    registers,
    collect() {
      this.reset();
      this.inc(droppedLines());
    },
  });
  new Gauge({
    name: 'animal_store_build_info',
    help: 'Always 1, with the version that runs and, if the build says it, its revision.',
    labelNames: Object.keys(version),
    registers,
  }).set({ ...version }, 1);

  const timed =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>, operation: string) =>
    async (...given: Given): Promise<R> => {
      const startedAt = performance.now();
      let outcome = 'ok';
      try {
        return await method(...given);
      } catch (error) {
        outcome = DomainError.is(error) ? 'unavailable' : 'error';
        throw error;
      } finally {
        observeCall(operation, outcome, (performance.now() - startedAt) / 1000);
      }
    };

  function observeCall(operation: string, outcome: string, seconds: number): void {
    try {
      if (outcome !== 'ok') failures.inc({ outcome });
      calls.observe({ operation, outcome }, seconds);
      // A defect tells nothing about the storage.
      if (outcome === (storageCheck.outage === null ? 'unavailable' : 'ok')) storageCheck.recheck();
    } catch (error) {
      // The call has succeeded, or failed for a reason of its own.
      onError(error);
    }
  }

  return {
    observe({ method: sent, route, status, duration, error }) {
      if (error !== undefined && isUnexpected(error)) defects.inc();
      const method = route === UNMATCHED && !METHODS.has(sent) ? OTHER_METHOD : sent;
      requests.observe({ method, route, status }, duration / 1000);
    },
    instrument: (ports) => mapPorts(ports, timed),
    contentType: registry.contentType,
    read: () => registry.metrics(),
  };
}
