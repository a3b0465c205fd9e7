import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RecordingOutput } from '../../test/recording-output.ts';
import { Tally } from './tally.ts';
import { transferPets } from './transfer-pets.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Add = Parameters<typeof createAwaitableCatalogue>[0]['add'];

const INTERRUPTED = new Error('interrupted');

/** Starts to create pets, one in each line of a file whose reading fails behind them, if there is an error. */
function creating(add: Add, count: number, { maxErrors = 100, readError = null as Error | null } = {}) {
  async function* lines() {
    for (let first = 1; first <= count; first += 1000) {
      yield Array.from({ length: Math.min(1000, count - first + 1) }, (_, index) => {
        const line = first + index;
        return { line, lastLine: line, pet: { name: `Rex ${line}`, categoryId: 1n }, error: null };
      });
    }
    if (readError !== null) throw readError;
  }
  const stderr = new RecordingOutput();
  const tally = new Tally({ file: { name: 'file', share: 0 }, verb: 'importing', maxErrors, stderr });
  const stop = new AbortController();
  const catalogue = createAwaitableCatalogue({ add, find: () => null, list: () => [] });
  const ended = transferPets(lines(), {
    accept: (pet, line) => catalogue.createPet(pet, { holder: ' test ', key: String(line) }),
    tally,
    signal: stop.signal,
  }).then(
    () => ({ error: null, pets: tally.pets }),
    (error: Error) => ({ error, pets: tally.pets }),
  );
  return { ended: vi.runAllTimersAsync().then(() => ended), tally, stderr, stop: () => stop.abort(INTERRUPTED) };
}

/** A storage that takes 10 ms for a creation, and counts those that are done and the most that were in flight. */
function slowStorage() {
  const counts = { inFlight: 0, most: 0, done: 0 };
  const add: Add = async (newPet) => {
    counts.inFlight += 1;
    counts.most = Math.max(counts.most, counts.inFlight);
    await new Promise((resolve) => setTimeout(resolve, 10));
    counts.inFlight -= 1;
    counts.done += 1;
    return { pet: { id: 1n, ...newPet }, created: true };
  };
  return { add, counts };
}

const unavailable = (cause?: unknown) => new DomainError('storage_unavailable', 'try again', { cause });

describe('transferPets', () => {
  test('keeps a bounded number of creations in flight, and finishes all', async () => {
    const { add, counts } = slowStorage();
    expect(await creating(add, 9_000).ended).toEqual({ error: null, pets: 9_000 });
    expect(counts.most).toBe(4_000);
  });

  test('repeats a creation with its key while the storage is unavailable', async () => {
    const keys: unknown[] = [];
    const { ended } = creating((newPet, create) => {
      keys.push(create?.key);
      if (keys.length <= 3) throw unavailable();
      return { pet: { id: 1n, ...newPet }, created: true };
    }, 1);
    expect(await ended).toEqual({ error: null, pets: 1 });
    expect(keys).toEqual(['1', '1', '1', '1']);
  });

  test('keeps few creations in flight after the storage was unavailable, and more with each that succeeds', async () => {
    const { add, counts } = slowStorage();
    let calls = 0;
    let mostAt2000 = 0;
    const { ended } = creating(async (newPet, create) => {
      calls += 1;
      if (calls === 1) throw unavailable();
      // The pets of the first chunk began before.
      if (calls === 1_002) counts.most = 0;
      if (calls === 2_000) mostAt2000 = counts.most;
      return add(newPet, create);
    }, 9_000);
    expect(await ended).toEqual({ error: null, pets: 9_000 });
    expect(mostAt2000).toBeGreaterThanOrEqual(50);
    expect(mostAt2000).toBeLessThan(300);
    expect(counts.most).toBeGreaterThan(500);
    expect(counts.most).toBeLessThan(1_000);
  });

  test('rejects with the error of the storage if it was unavailable for half a minute', async () => {
    const start = performance.now();
    const { ended } = creating(() => {
      throw unavailable();
    }, 50);
    expect((await ended).error?.message).toBe('try again');
    expect(performance.now() - start).toBeGreaterThan(29_000);
    expect(performance.now() - start).toBeLessThan(40_000);
  });

  test.each([unavailable(new StorageMisconfigured('the file is damaged')), new Error('a defect')])(
    'does not repeat a creation after an error that waiting cannot resolve: %s',
    async (error) => {
      const keys: unknown[] = [];
      const { ended } = creating((_, create) => {
        keys.push(create?.key);
        throw error;
      }, 3_000);
      expect(await ended).toEqual({ error, pets: 0 });
      expect(keys).toEqual(['1']);
    },
  );

  test.each([
    ['begins no further creation', 3_000, null, INTERRUPTED],
    ['does not repeat a creation', 3_000, unavailable(), INTERRUPTED],
    ['succeeds if all creations have begun', 10, null, null],
  ])('%s after it was aborted', async (_, count, failure, error) => {
    let calls = 0;
    const { ended, stop } = creating(async (newPet) => {
      calls += 1;
      if (calls === 10) stop();
      if (failure !== null) throw failure;
      return { pet: { id: 1n, ...newPet }, created: true };
    }, count);
    expect(await ended).toEqual({ error, pets: failure === null ? 10 : 0 });
    expect(calls).toBe(10);
  });

  test('stops after so many errors, reports no more, and waits for creations in flight', async () => {
    const { add, counts } = slowStorage();
    const { ended, tally, stderr } = creating(
      async (newPet, create) => (Number(create?.key) % 7 === 0 ? null : add(newPet, create)),
      20_000,
      { maxErrors: 1 },
    );
    expect(await ended).toEqual({ error: null, pets: counts.done });
    expect(counts.done).toBeLessThan(5_000);
    expect(tally.rejected).toBe(1);
    expect(stderr.text).toBe('file:7: another pet was imported under this --import-id and line number\n');
  });

  test('waits for creations in flight if the file cannot be read on', async () => {
    const readError = new Error('the file became shorter');
    const { add } = slowStorage();
    expect(await creating(add, 2_000, { readError }).ended).toEqual({ error: readError, pets: 2_000 });
  });
});
