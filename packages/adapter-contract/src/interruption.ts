import type { ApiKey, Pet } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
import { expect, onTestFinished, vi } from 'vitest';
import { failureOf } from './calls.ts';
import { added, apiKey, everyPage, rex } from './samples.ts';
import { type Outage, opened, type StorageUnderTest } from './storage-under-test.ts';

/** How long a storage may need to work again, in milliseconds. */
export const RECOVERY_LIMIT = 15_000;

/** A storage that works until it is interrupted. */
export interface Interruption<Place> {
  readonly place: Place;
  readonly storage: Storage;
  /** The only pet, and the only key. */
  readonly pet: Pet;
  readonly key: ApiKey;
  begin(): Promise<void>;
  /** The end of the test calls it, too. */
  end(): Promise<void>;
}

/**
 * Runs a check with each of these outages, all at the same time, because it waits most of the time. A failure begins with the
 * outage's name.
 */
export async function inEach<Place, Way extends Outage<Place>>(
  adapter: StorageUnderTest<Place>,
  outages: readonly (readonly [name: string, outage: Way])[],
  check: (interruption: Interruption<Place>, outage: Way, index: number) => Promise<void>,
): Promise<void> {
  const checks = outages.map(async ([name, outage], index) => {
    let stage = `before ${name}`;
    try {
      const place = await adapter.freshPlace();
      const storage = await opened(adapter, place);
      await recovered(storage);
      const pet = await added(storage.pets, rex({ status: 'sold' }));
      const key = apiKey();
      await storage.keys.add(key);
      let ending: Promise<void> | undefined;
      const end = async () => {
        ending ??= (async () => outage.end(place))();
        await ending;
      };
      const begin = async () => {
        stage = name;
        onTestFinished(end);
        await outage.begin(place);
      };
      await check({ place, storage, pet, key, begin, end }, outage, index);
    } catch (error) {
      (error as Error).message = `${stage}: ${(error as Error).message}`;
      throw error;
    }
  });
  // All have ended before a failure is thrown: a check that goes on would use what the end of the test removes.
  await Promise.allSettled(checks);
  await Promise.all(checks);
}

/** Waits until a storage works, after an outage or among many. */
export async function recovered(storage: Storage): Promise<void> {
  const expectReady = async () => expect(await failureOf(() => storage.ready())).toBeNull();
  await vi.waitFor(expectReady, { timeout: RECOVERY_LIMIT, interval: 50 });
}

/** All pets, each of which has the status `sold`: a list by status must have the same. */
export async function everyPet({ pets }: Storage): Promise<Pet[]> {
  const stored = await everyPage(pets);
  expect(await everyPage(pets, { status: 'sold' }), 'listed by status').toStrictEqual(stored);
  return stored;
}
