import { totalmem } from 'node:os';
import type { PetStorage } from '@animal-store/domain/ports';
import type { Awaitable } from '@animal-store/domain/transport';
import { registerStorageCalls, singleFlight } from '@animal-store/observability';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Exchange, type Observer, UNAVAILABLE_REASONS } from '../http/exchange.ts';
import type { HttpResponse } from '../http/response.ts';
import { registerRequestDurations } from './request-durations.ts';

/** The values of the label `method`; any other method, which a client may invent, is `other`. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts events and serves the counts. */
export interface Metrics {
  readonly observer: Observer;
  /** Wraps a storage so that its calls are counted and timed. */
  observed(storage: PetStorage): PetStorage;
  /** Counts a lookup of an issued key. @param cached Whether the storage was not asked. */
  keyLookedUp(cached: boolean): void;
  /** Counts an unexpected error. */
  countUnexpectedError(): void;
  /** Records the result of a storage check. */
  storageChecked(available: boolean): void;
  /** Counts a connection that the server dropped. @param reason One of `dropReasons`. */
  countDrop(reason: string): void;
  /** Renders the metrics in Prometheus' text format. Concurrent calls share one response. */
  read(): Awaitable<HttpResponse>;
}

/**
 * @param logLinesLost How many lines of the log could not be written since the start.
 * @param dropReasons Every reason for which the server drops connections.
 * @param registry One for each application.
 */
export function createMetrics({
  logLinesLost,
  dropReasons,
  registry = new Registry(),
}: {
  logLinesLost: () => number;
  dropReasons: readonly string[];
  registry?: Registry;
}): Metrics {
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  let inFlight = 0;
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have no response yet.',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  const countRequest = registerRequestDurations(registry);
  const keyLookups = new Counter({
    name: 'animal_store_key_lookups_total',
    help: 'Lookups of issued API keys, by result: hit (cached) or miss (the storage was asked).',
    labelNames: ['result'],
    registers,
  });

  /** Every reason starts at 0, so that the first event is an increase. @returns Counts one event. */
  function countByReason<R extends string>(name: string, help: string, reasons: readonly R[]): (reason: R) => void {
    const counter = new Counter({ name, help, labelNames: ['reason'], registers });
    for (const reason of reasons) counter.labels(reason).inc(0);
    return (reason) => counter.labels(reason).inc();
  }

  const countUnavailable = countByReason(
    'animal_store_unavailable_total',
    'Responses with status 503, by reason (storage, overload, stopping).',
    UNAVAILABLE_REASONS,
  );

  const countDrop = countByReason(
    'animal_store_connections_dropped_total',
    'Connections dropped because there were too many (connections) or they sent too many requests (requests).',
    dropReasons,
  );

  const storageUp = new Gauge({
    name: 'animal_store_storage_up',
    help: 'Whether the storage was available (1) or not (0) at the last check, every 3 to 15 seconds.',
    registers,
  });

  new Gauge({
    name: 'animal_store_memory_limit_bytes',
    help: 'The memory that the process may use: the limit of its container or the memory of the machine.',
    registers,
  }).set(Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()));

  new Counter({
    name: 'animal_store_log_lines_lost_total',
    help: 'Lines of the log that could not be written.',
    registers,
    collect() {
      this.reset();
      this.inc(logLinesLost());
    },
  });

  const unexpectedErrors = new Counter({
    name: 'animal_store_internal_errors_total',
    help: 'Unexpected errors, each a defect of the service.',
    registers,
  });

  return {
    observer: {
      begin() {
        inFlight += 1;
      },
      end({ method, route, unavailable }: Exchange, { status }, _bytes, duration) {
        if (unavailable !== null) countUnavailable(unavailable.reason);
        inFlight -= 1;
        countRequest(METHODS.has(method) ? method : 'other', route, status, duration / 1000);
      },
    },
    observed: registerStorageCalls(registry),
    keyLookedUp(cached) {
      keyLookups.labels(cached ? 'hit' : 'miss').inc();
    },
    storageChecked: (available) => storageUp.set(available ? 1 : 0),
    countDrop,
    countUnexpectedError: () => unexpectedErrors.inc(),
    read: singleFlight(async () => ({
      status: 200,
      headers: { 'content-type': registry.contentType },
      body: await registry.metrics(),
    })),
  };
}
