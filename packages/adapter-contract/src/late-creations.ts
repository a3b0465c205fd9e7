import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { expectUnavailable, failureOf } from './calls.ts';
import { added, rex } from './samples.ts';

/** 20 creations a second for 6 seconds: almost three times as long as a call may take. */
const CREATIONS = 120;
const INTERVAL = 50;

/** How soon creations must work again, in milliseconds. */
const SOON = 1_000;

/** How long before the end a call may fail whose creation is committed at the end, in milliseconds. */
const TOLERANCE = 200;

/**
 * Expects that a storage begins no creation after its call has failed, and creates again at once when writes no longer wait.
 * Otherwise it stores pets minutes after their callers were told that it did not.
 */
export async function expectNoLateCreations(
  storage: Required<Pick<Storage, 'pets' | 'archive' | 'location'>>,
  { begin, end }: { begin(): Promise<void>; end(): Promise<void> },
): Promise<void> {
  const { pets, archive } = storage;
  /** When the call for the pet of each name failed. */
  const failedAt = new Map<string, number>();
  const calls: Promise<void>[] = [];
  async function create(name: string): Promise<void> {
    const failure = await failureOf(() => added(pets, rex({ name })));
    if (failure === null) return;
    failedAt.set(name, Date.now());
    expectUnavailable('pets.add', failure, storage);
  }
  await begin();
  for (let index = 0; index < CREATIONS; index += 1) {
    calls.push(create(`Rex ${index}`));
    await sleep(INTERVAL);
  }
  expect(failedAt.size, 'creations that failed while writes had to wait').toBeGreaterThan(CREATIONS / 4);
  const ended = Date.now();
  await end();
  const message = 'a creation after the end';
  await expect.poll(() => failureOf(() => added(pets)), { timeout: SOON, message }).toBeNull();
  await Promise.all(calls);
  // Those that wait in a queue are stored before it.
  await added(pets);
  const late = (await archive.read(0n, 1_000)).flatMap(({ name }) => {
    const delay = ended - (failedAt.get(name) ?? ended);
    return delay > TOLERANCE ? [`${name} ${delay} ms`] : [];
  });
  expect(late, 'creations that began after their call had failed').toEqual([]);
}
