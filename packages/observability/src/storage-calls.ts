import { DomainError } from '@animal-store/domain';
import type { KeyStore, PetStorage, PetStore, RateLimiter } from '@animal-store/domain/ports';
import { isPromise } from '@animal-store/domain/transport';
import { Counter, type Registry } from 'prom-client';
import { registerHistogram } from './histogram.ts';

/**
 * Registers the metrics of calls of the storage.
 *
 * @returns Wraps a storage so that its calls are counted and timed.
 */
export function registerStorageCalls(registry: Registry): (storage: PetStorage) => PetStorage {
  /** Successful calls by operation. prom-client gets them when the metrics are read, because its counters are slow. */
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
  const durations = registerHistogram(registry, {
    name: 'animal_store_storage_call_duration_seconds',
    help: 'Duration of calls of the storage, by operation.',
  });

  function observed<T>(port: T, name: string, methods: Record<keyof T & string, true>): T {
    const wrapped: Record<string, unknown> = {};
    for (const method of Object.keys(methods) as (keyof T & string)[]) {
      const call = port[method] as (...given: unknown[]) => unknown;
      const operation = `${name}.${method}`;
      const observe = durations({ operation });
      const success = { count: 0 };
      successes.set(operation, success);
      // From the start, so that the first failure is an increase.
      for (const outcome of ['unavailable', 'error']) calls.labels(operation, outcome).inc(0);

      const succeed = (start: number) => {
        success.count += 1;
        observe((performance.now() - start) / 1000);
      };
      const fail = (start: number, error: unknown): never => {
        const isUnavailable = DomainError.is(error) && error.code === 'storage_unavailable';
        calls.labels(operation, isUnavailable ? 'unavailable' : 'error').inc();
        observe((performance.now() - start) / 1000);
        throw error;
      };
      wrapped[method] = (...given: unknown[]) => {
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
    return wrapped as T;
  }

  return (storage) => {
    const createRateLimiter = storage.createRateLimiter?.bind(storage);
    // Not with a spread: an adapter's methods may be on a prototype.
    return {
      pets: observed<PetStore>(storage.pets, 'pets', { add: true, find: true, list: true }),
      keys: observed<KeyStore>(storage.keys, 'keys', {
        add: true,
        find: true,
        list: true,
        revoke: true,
        recordUse: true,
      }),
      location: storage.location,
      warnings: storage.warnings ?? [],
      ...(createRateLimiter && {
        createRateLimiter: (policy) => observed<RateLimiter>(createRateLimiter(policy), 'rateLimiter', { take: true }),
      }),
      ready: () => storage.ready(),
      close: () => storage.close(),
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    };
  };
}
