import { totalmem } from 'node:os';
import { singleFlight } from '@animal-store/async';
import type { PetStorage } from '@animal-store/domain/ports';
import type { Awaitable } from '@animal-store/domain/transport';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createStorageInstrumentation } from './storage-calls.ts';

export type { Registry } from 'prom-client';

/** The metrics of a service. */
export interface Metrics {
  /** A transport registers its own metrics here. */
  readonly registry: Registry;
  instrument(storage: PetStorage): PetStorage;
  /** Counts a lookup of an issued key. `cached`: the storage was not asked. */
  keyLookedUp(cached: boolean): void;
  countUnexpectedError(): void;
  /** Records the result of a storage check. */
  storageChecked(available: boolean): void;
  /** The media type of what `read` returns. */
  readonly contentType: string;
  /** Renders the metrics in Prometheus' text format. Concurrent calls share one result. */
  read(): Awaitable<string>;
}

/**
 * @param build Version and revision, as labels.
 * @param logLinesLost How many lines of the log could not be written since the start.
 * @param readAll Reads the metrics of all processes that serve together; by default there is only this one.
 */
export function createMetrics(
  build: Readonly<Record<string, string>>,
  logLinesLost: () => number,
  readAll?: () => Promise<string>,
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const keyLookups = new Counter({
    name: 'animal_store_key_lookups_total',
    help: 'Lookups of issued API keys, by result: hit (cached) or miss (the storage was asked).',
    labelNames: ['result'],
    registers,
  });

  const storageUp = new Gauge({
    name: 'animal_store_storage_up',
    help: 'Whether the storage was available (1) or not (0) at the last check, every 3 to 15 seconds.',
    aggregator: 'min',
    registers,
  });

  new Gauge({
    name: 'animal_store_memory_limit_bytes',
    help: 'The memory that the process may use: the limit of its container or the memory of the machine.',
    aggregator: 'first',
    registers,
  }).set(Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()));

  new Gauge({
    name: 'animal_store_build_info',
    help: 'Always 1, with the version that runs and, if the build says it, its revision.',
    aggregator: 'first',
    labelNames: Object.keys(build),
    registers,
  }).set({ ...build }, 1);

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
    registry,
    instrument: createStorageInstrumentation(registry),
    keyLookedUp: (cached) => keyLookups.inc({ result: cached ? 'hit' : 'miss' }),
    countUnexpectedError: () => unexpectedErrors.inc(),
    storageChecked: (available) => storageUp.set(available ? 1 : 0),
    contentType: registry.contentType,
    read: singleFlight(readAll ?? (() => registry.metrics())),
  };
}
