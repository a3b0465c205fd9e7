import { DomainError } from '@animal-store/domain';
import type { KeyStore, PetStorage, PetStore, RateLimiter } from '@animal-store/domain/ports';
import { isPromise } from '@animal-store/domain/transport';
import { Counter, type Registry } from 'prom-client';
import { registerHistogram } from './histogram.ts';

/** Wraps a storage so that its calls are counted and timed. */
export type InstrumentStorage = (storage: PetStorage) => PetStorage;

/** Counts and times a call of one operation. `start` is from `performance.now()`. */
type RecordCall = (start: number, outcome: Outcome) => void;

type Outcome = 'ok' | 'unavailable' | 'error';

/** Registers the metrics of calls of the storage. */
export function createStorageInstrumentation(registry: Registry): InstrumentStorage {
  const createRecordCall = registerCallMetrics(registry);

  function instrument<T>(port: T, name: string, methods: Record<keyof T & string, true>): T {
    const instrumented: Record<string, unknown> = {};
    for (const method of Object.keys(methods) as (keyof T & string)[]) {
      const call = port[method] as (...given: unknown[]) => unknown;
      instrumented[method] = recorded(call.bind(port), createRecordCall(`${name}.${method}`));
    }
    return instrumented as T;
  }

  return (storage) => {
    const createRateLimiter = storage.createRateLimiter?.bind(storage);
    // A spread would miss methods of an adapter that are on a prototype.
    return {
      pets: instrument<PetStore>(storage.pets, 'pets', { add: true, find: true, list: true }),
      keys: instrument<KeyStore>(storage.keys, 'keys', {
        ...{ add: true, find: true, list: true, revoke: true, recordUse: true },
      }),
      location: storage.location,
      warnings: storage.warnings ?? [],
      ...(createRateLimiter && {
        createRateLimiter: (policy) =>
          instrument<RateLimiter>(createRateLimiter(policy), 'rateLimiter', { take: true }),
      }),
      ready: () => storage.ready(),
      close: () => storage.close(),
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    };
  };
}

/** Returns a method that calls another one and records how the call ends. */
function recorded(call: (...given: unknown[]) => unknown, record: RecordCall) {
  return (...given: unknown[]) => {
    const start = performance.now();
    try {
      const result = call(...given);
      if (isPromise(result)) {
        return result.then(
          (value) => {
            record(start, 'ok');
            return value;
          },
          (error) => {
            record(start, failureOf(error));
            throw error;
          },
        );
      }
      record(start, 'ok');
      return result;
    } catch (error) {
      record(start, failureOf(error));
      throw error;
    }
  };
}

function failureOf(error: unknown): Outcome {
  return DomainError.is(error) ? 'unavailable' : 'error';
}

function registerCallMetrics(registry: Registry): (operation: string) => RecordCall {
  // All counters start at 0, so that the first failure is an increase.
  const counts = new Map<string, Record<Outcome, number>>();
  new Counter({
    name: 'animal_store_storage_calls_total',
    help: 'Calls of the storage, by operation and outcome (ok, unavailable, error).',
    labelNames: ['operation', 'outcome'],
    registers: [registry],
    // Values are set when the metrics are read, because counting with prom-client is slow.
    collect() {
      this.reset();
      for (const [operation, outcomes] of counts) {
        for (const [outcome, count] of Object.entries(outcomes)) this.inc({ operation, outcome }, count);
      }
    },
  });
  const createSeries = registerHistogram(registry, {
    name: 'animal_store_storage_call_duration_seconds',
    help: 'Duration of calls of the storage, by operation.',
  });
  return (operation) => {
    const outcomes = { ok: 0, unavailable: 0, error: 0 };
    counts.set(operation, outcomes);
    const observe = createSeries({ operation });
    return (start, outcome) => {
      outcomes[outcome] += 1;
      observe((performance.now() - start) / 1000);
    };
  };
}
