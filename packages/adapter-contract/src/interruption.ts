import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports, Storage } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { expectMayPass, failureOf, patiently } from './calls.ts';
import { PATIENCE, RECOVERY_LIMIT, TRIES } from './limits.ts';
import { type PortCalls, portCalls } from './port-calls.ts';
import { type Outage, opened, type StorageUnderTest } from './storage-under-test.ts';

/** A storage that works until it is interrupted. */
export interface Interruption<Place> {
  readonly place: Place;
  readonly storage: Storage;
  /** Those of the place, where two pets and an API key are stored. */
  readonly calls: PortCalls;
  begin(): Promise<void>;
  /** The end of the test calls it, too. */
  end(): Promise<void>;
}

/**
 * Runs a check with each of these outages, all at the same time, because it waits most of the time. A failure begins with the
 * outage's name.
 */
export async function inEach<Place, Way extends Partial<Outage<Place>>>(
  adapter: StorageUnderTest<Place>,
  outages: readonly (readonly [name: string, outage: Way])[],
  check: (interruption: Interruption<Place>, outage: Way, index: number) => Promise<void>,
): Promise<void> {
  const checks = outages.map(async ([name, outage], index) => {
    let stage = `before ${name}`;
    try {
      const place = await adapter.freshPlace();
      const storage = await opened(adapter, place);
      await recovered(storage, PATIENCE);
      const calls = portCalls();
      await addEach(calls, storage);
      let ending: Promise<void> | undefined;
      const end = async () => {
        ending ??= (async () => outage.end?.(place))();
        await ending;
      };
      const begin = async () => {
        stage = name;
        onTestFinished(end);
        await outage.begin?.(place);
      };
      await check({ place, storage, calls, begin, end }, outage, index);
    } catch (error) {
      (error as Error).message = `${stage}: ${(error as Error).message}`;
      throw error;
    }
  });
  // All have ended before a failure is thrown: a check that goes on would use what the end of the test removes.
  await Promise.allSettled(checks);
  await Promise.all(checks);
}

/** Adds two pets and an API key, which is neither used nor revoked. On a busy machine that may take longer than a call may. */
export async function addEach(calls: PortCalls, caller: Ports): Promise<void> {
  const writes = calls.writes(caller);
  for (const name of ['pets.add', 'pets.add with an idempotency key', 'keys.add'] as const)
    await patiently(writes[name]);
}

/**
 * Waits until a storage works, after an outage or among many. On a busy machine each call may take all of its time.
 *
 * @param limit In milliseconds. Before an outage it is {@link PATIENCE}: nothing is tested yet.
 * @param passes Whether no failure may say that settings must change.
 */
export async function recovered(storage: Storage, limit = RECOVERY_LIMIT, passes = false): Promise<void> {
  const end = performance.now() + limit;
  for (let left = TRIES; ; left -= 1) {
    const failure = await failureOf(() => storage.ready());
    if (failure === null) return;
    if (passes) expectMayPass([failure]);
    if (left <= 0 && performance.now() > end) throw failure;
    await sleep(50);
  }
}
