import { DomainError } from '@animal-store/domain';
import type { KeyStore, PetStorage, PetStore, RateLimiter } from '@animal-store/domain/ports';
import { isPromise } from '@animal-store/domain/transport';
import { Counter, type Registry } from 'prom-client';
import { registerHistogram } from './histogram.ts';

/** Wraps a storage so that its calls are counted and timed. */
export type InstrumentStorage = (storage: PetStorage) => PetStorage;

/** Records the calls of one operation. `start` is from `performance.now()`. */
interface CallRecorder {
  succeed(start: number): void;
  /** @throws the error. */
  fail(start: number, error: unknown): never;
}

/** Registers the metrics of calls of the storage. */
export function createStorageInstrumentation(registry: Registry): InstrumentStorage {
  const createRecorder = registerCallMetrics(registry);

  function instrument<T>(port: T, name: string, methods: Record<keyof T & string, true>): T {
    const instrumented: Record<string, unknown> = {};
    for (const method of Object.keys(methods) as (keyof T & string)[]) {
      const call = port[method] as (...given: unknown[]) => unknown;
      instrumented[method] = recorded(port, call, createRecorder(`${name}.${method}`));
    }
    return instrumented as T;
  }

  return (storage) => {
    const createRateLimiter = storage.createRateLimiter?.bind(storage);
    // Not with a spread: an adapter's methods may be on a prototype.
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

/** @returns A method that calls another one, of `port`, and records how the call ends. */
function recorded(port: unknown, call: (...given: unknown[]) => unknown, { succeed, fail }: CallRecorder) {
  return (...given: unknown[]) => {
    const start = performance.now();
    try {
      const result = call.apply(port, given);
      if (isPromise(result)) {
        return result.then(
          (value: unknown) => {
            succeed(start);
            return value;
          },
          (error: unknown) => fail(start, error),
        );
      }
      succeed(start);
      return result;
    } catch (error) {
      return fail(start, error);
    }
  };
}

function registerCallMetrics(registry: Registry): (operation: string) => CallRecorder {
  /** Successful calls since the metrics were last read. prom-client gets them only then, because its counters are slow. */
  const successes = new Map<string, { count: number }>();
  const calls = new Counter({
    name: 'animal_store_storage_calls_total',
    help: 'Calls of the storage, by operation and outcome (ok, unavailable, error).',
    labelNames: ['operation', 'outcome'],
    registers: [registry],
    collect() {
      for (const [operation, success] of successes) {
        this.inc({ operation, outcome: 'ok' }, success.count);
        success.count = 0;
      }
    },
  });
  const createSeries = registerHistogram(registry, {
    name: 'animal_store_storage_call_duration_seconds',
    help: 'Duration of calls of the storage, by operation.',
  });

  return (operation) => {
    const observe = createSeries({ operation });
    const success = { count: 0 };
    successes.set(operation, success);
    // From the start, so that the first failure is an increase.
    for (const outcome of ['unavailable', 'error']) calls.labels(operation, outcome).inc(0);
    const end = (start: number) => observe((performance.now() - start) / 1000);
    return {
      succeed(start) {
        success.count += 1;
        end(start);
      },
      fail(start, error) {
        const isUnavailable = DomainError.is(error) && error.code === 'storage_unavailable';
        calls.labels(operation, isUnavailable ? 'unavailable' : 'error').inc();
        end(start);
        throw error;
      },
    };
  };
}
