import { totalmem } from 'node:os';
import { type Awaitable, isPromise, type KeyStore, type PetStore, type Storage } from '@animal-store/domain';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Exchange, type Observer, UNAVAILABLE_REASONS } from '../http/exchange.ts';
import type { HttpResponse } from '../http/response.ts';
import { singleFlight } from '../http/single-flight.ts';
import { DROP_REASONS, type DropReason } from '../server/server.ts';
import { registerRequestDurations } from './request-durations.ts';

/** Methods that are told apart; a client can invent others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The service's metrics: what is counted, and how they are read. */
export interface Metrics {
  readonly observer: Observer;
  /** The same storage, its calls counted. */
  observed(storage: Storage): Storage;
  /** One lookup of an issued key. @param remembered Whether the storage need not be asked. */
  keyLookedUp(remembered: boolean): void;
  /** One error that was a fault of the service. */
  countUnexpectedError(): void;
  /** Whether the storage was in reach when it was looked at. */
  storageChecked(inReach: boolean): void;
  /** One connection that was not kept. */
  countDrop(reason: DropReason): void;
  /** The metrics in Prometheus' text exposition format. */
  read(): Awaitable<HttpResponse>;
}

/**
 * @param logLinesLost How many lines of the log could not be written since the start.
 * @param registry Where the metrics are registered; one for each application.
 */
export function createMetrics({
  logLinesLost,
  registry = new Registry(),
}: {
  logLinesLost: () => number;
  registry?: Registry;
}): Metrics {
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  let inFlight = 0;
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests whose answer is not written yet.',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  const countRequest = registerRequestDurations(registry);
  /** How often each storage call succeeded; prom-client is told when it is asked, not with every call. */
  const successes = new Map<string, { count: number }>();
  const storageCalls = new Counter({
    name: 'animal_store_storage_calls_total',
    help: 'Calls of the storage, by operation and outcome (ok, unavailable, error).',
    labelNames: ['operation', 'outcome'],
    registers,
    collect() {
      for (const [operation, success] of successes) {
        this.inc({ operation, outcome: 'ok' }, success.count);
        success.count = 0;
      }
    },
  });
  const keyLookups = new Counter({
    name: 'animal_store_key_lookups_total',
    help: 'Lookups of issued API keys, by whether the answer was remembered (hit) or the storage was asked (miss).',
    labelNames: ['result'],
    registers,
  });

  /** Each reason is there from the start, so that the first of its kind is an increase. @returns What counts one. */
  function countByReason<R extends string>(name: string, help: string, reasons: readonly R[]): (reason: R) => void {
    const counter = new Counter({ name, help, labelNames: ['reason'], registers });
    for (const reason of reasons) counter.labels(reason).inc(0);
    return (reason) => counter.labels(reason).inc();
  }

  const countUnavailable = countByReason(
    'animal_store_unavailable_total',
    'Requests that were answered with 503, by reason (storage, overload, stopping).',
    UNAVAILABLE_REASONS,
  );

  const countDrop = countByReason(
    'animal_store_connections_dropped_total',
    'Connections that were closed because there were too many (connections) or they sent too many requests (requests).',
    DROP_REASONS,
  );

  const storageInReach = new Gauge({
    name: 'animal_store_storage_up',
    help: 'Whether the storage was in reach (1) or not (0) when the service last looked, every 3 to 15 seconds.',
    registers,
  });

  new Gauge({
    name: 'animal_store_memory_limit_bytes',
    help: 'What memory the process may take: the limit of its container, or what the machine has.',
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

  const violations = new Counter({
    name: 'animal_store_internal_errors_total',
    help: 'Unexpected errors: defects of the service.',
    registers,
  });

  /** The same port, the outcome of each call counted. */
  function counted<T>(port: T, name: string, methods: Record<keyof T & string, true>): T {
    const wrapped: Record<string, unknown> = {};
    for (const method of Object.keys(methods) as (keyof T & string)[]) {
      const call = port[method] as (...given: unknown[]) => unknown;
      const operation = `${name}.${method}`;
      const succeeded = { count: 0 };
      // There from the start, so that the first failure is an increase.
      for (const outcome of ['unavailable', 'error']) storageCalls.labels(operation, outcome).inc(0);
      successes.set(operation, succeeded);
      const failed = (error: unknown): never => {
        const known = error instanceof Error && 'code' in error && error.code === 'service_unavailable';
        storageCalls.labels(operation, known ? 'unavailable' : 'error').inc();
        throw error;
      };
      wrapped[method] = (...given: unknown[]) => {
        try {
          const result = call.apply(port, given);
          if (isPromise(result)) {
            return result.then((value: unknown) => {
              succeeded.count += 1;
              return value;
            }, failed);
          }
          succeeded.count += 1;
          return result;
        } catch (error) {
          return failed(error);
        }
      };
    }
    return wrapped as T;
  }

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
    // An adapter's object may be anything: its methods may stand on a prototype.
    observed: (storage) => ({
      pets: counted<PetStore>(storage.pets, 'pets', { add: true, find: true, list: true }),
      keys: counted<KeyStore>(storage.keys, 'keys', {
        add: true,
        find: true,
        list: true,
        revoke: true,
        recordUse: true,
      }),
      ready: () => storage.ready(),
      close: () => storage.close(),
    }),
    keyLookedUp(remembered) {
      keyLookups.labels(remembered ? 'hit' : 'miss').inc();
    },
    storageChecked: (inReach) => storageInReach.set(inReach ? 1 : 0),
    countDrop,
    countUnexpectedError: () => violations.inc(),
    read: singleFlight(async () => ({
      status: 200,
      headers: { 'content-type': registry.contentType },
      body: await registry.metrics(),
    })),
  };
}
