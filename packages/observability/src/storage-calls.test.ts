import { DomainError } from '@animal-store/domain';
import type { PetStorage, PetStore } from '@animal-store/domain/ports';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createStorageInstrumentation } from './storage-calls.ts';

const UNAVAILABLE = new DomainError('storage_unavailable', 'unavailable');
const DEFECT = new TypeError('a defect');

/** Its methods are on a prototype and need `this`. */
class Pets implements PetStore {
  readonly nothing = Promise.resolve(null);
  add(): never {
    throw UNAVAILABLE;
  }
  find(id: bigint) {
    return id === 1n ? this.nothing : Promise.reject(id === 2n ? UNAVAILABLE : DEFECT);
  }
  list(): never {
    throw DEFECT;
  }
}

const QUOTA = { allowed: true, remaining: 0, resetsIn: 0 };

function createStorage() {
  return {
    pets: new Pets(),
    keys: { add() {}, find: () => null, list: () => [], revoke: () => null, recordUse() {} },
    location: 'here',
    createRateLimiter: () => ({ take: () => QUOTA }),
    ready: vi.fn(() => {}),
    close: vi.fn(() => {}),
    [Symbol.asyncDispose]: vi.fn(async () => {}),
  } satisfies PetStorage;
}

function instrumented(storage: PetStorage) {
  const registry = new Registry();
  const read = async (name: string) => {
    const lines = (await registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith(name) && !line.endsWith(' 0')).sort();
  };
  return { storage: createStorageInstrumentation(registry)(storage), read };
}

describe('createStorageInstrumentation', () => {
  test('counts calls by operation and outcome, and passes on results and errors', async () => {
    const {
      storage: { keys, pets },
      read,
    } = instrumented(createStorage());
    expect(keys.list()).toEqual([]);
    expect(await pets.find(1n)).toBeNull();
    await expect(pets.find(2n)).rejects.toBe(UNAVAILABLE);
    await expect(pets.find(3n)).rejects.toBe(DEFECT);
    expect(() => pets.list({ after: 0n, limit: 1 })).toThrow(DEFECT);
    expect(() => pets.add({ name: 'Rex', categoryId: 1n })).toThrow(UNAVAILABLE);
    expect(await read('animal_store_storage_calls_total')).toEqual(await read('animal_store_storage_calls_total'));
    expect(await read('animal_store_storage_calls_total')).toEqual([
      'animal_store_storage_calls_total{operation="keys.list",outcome="ok"} 1',
      'animal_store_storage_calls_total{operation="pets.add",outcome="unavailable"} 1',
      'animal_store_storage_calls_total{operation="pets.find",outcome="error"} 1',
      'animal_store_storage_calls_total{operation="pets.find",outcome="ok"} 1',
      'animal_store_storage_calls_total{operation="pets.find",outcome="unavailable"} 1',
      'animal_store_storage_calls_total{operation="pets.list",outcome="error"} 1',
    ]);
  });

  test('times successful and failed calls by operation', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const storage = createStorage();
    const slow = <T>(result: T) => new Promise<T>((resolve) => setTimeout(resolve, 2_000, result));
    vi.spyOn(storage.pets, 'find')
      .mockReturnValueOnce(slow(null))
      .mockReturnValueOnce(slow(null).then(() => Promise.reject(DEFECT)));
    const { storage: wrapped, read } = instrumented(storage);
    const times = async (operation: string) =>
      (await read('animal_store_storage_call_duration_seconds_')).filter(
        (line) => /sum|count/.test(line) && line.includes(operation),
      );
    const calls = Promise.allSettled([wrapped.pets.find(1n), wrapped.pets.find(1n)]);
    await vi.advanceTimersByTimeAsync(2_000);
    await calls;
    expect(await times('pets.find')).toEqual([
      'animal_store_storage_call_duration_seconds_count{operation="pets.find"} 2',
      'animal_store_storage_call_duration_seconds_sum{operation="pets.find"} 4',
    ]);
    const HELP = '# HELP animal_store_storage_call_duration_seconds';
    expect(await read(HELP)).toEqual([`${HELP} Duration of calls of the storage, by operation.`]);
    expect(() => wrapped.pets.list({ after: 0n, limit: 1 })).toThrow(DEFECT);
    expect(await times('pets.list')).toEqual([
      'animal_store_storage_call_duration_seconds_count{operation="pets.list"} 1',
    ]);
  });

  test('preserves the other members of the storage', async () => {
    const storage = createStorage();
    const { storage: wrapped, read } = instrumented(storage);
    expect(wrapped.location).toBe('here');
    expect(await wrapped.createRateLimiter?.({ limit: 1, window: 1 }).take('the zoo')).toBe(QUOTA);
    expect(await read('animal_store_storage_calls_total')).toEqual([
      'animal_store_storage_calls_total{operation="rateLimiter.take",outcome="ok"} 1',
    ]);
    await wrapped.ready();
    await wrapped.close();
    await wrapped[Symbol.asyncDispose]();
    expect(storage[Symbol.asyncDispose]).toHaveBeenCalledOnce();
    expect(wrapped.warnings).toEqual([]);
    expect(instrumented({ ...storage, warnings: ['no TLS'] }).storage.warnings).toEqual(['no TLS']);
    expect(storage.ready).toHaveBeenCalledOnce();
    expect(storage.close).toHaveBeenCalledOnce();
    const { createRateLimiter: _, ...others } = storage;
    expect(instrumented(others).storage).not.toHaveProperty('createRateLimiter');
  });
});
