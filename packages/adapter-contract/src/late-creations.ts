import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '@animal-store/domain/ports';
import { expect, vi } from 'vitest';
import { expectUnavailable, failureOf } from './calls.ts';
import { added, idempotencyOf, rex } from './samples.ts';

/** 20 creations a second for 6 seconds: almost three times as long as a call may take. */
const CREATIONS = 120;
const INTERVAL = 50;

/** How soon creations must work again, in milliseconds. */
const SOON = 1_000;

/** How long before the end a call may fail whose creation is committed at the end, in milliseconds. */
const TOLERANCE = 200;

/** How an outage differs from writes that wait. */
interface Differences {
  /**
   * Whether calls are executed although they fail. Then the times of the pets say when.
   *
   * @default false
   */
  readonly executes?: boolean | undefined;
  /**
   * How soon creations must work again, in milliseconds.
   *
   * @default 1_000
   */
  readonly recovery?: number | undefined;
}

/**
 * Expects that a storage begins no creation after its call has failed, and creates again at once when writes no longer wait.
 * Otherwise it stores pets minutes after their callers were told that it did not.
 */
export async function expectNoLateCreations(
  storage: Required<Pick<Storage, 'pets' | 'archive' | 'location'>>,
  { begin, end }: { begin(): Promise<void>; end(): Promise<void> },
  { executes = false, recovery = SOON }: Differences = {},
): Promise<void> {
  const { pets, archive } = storage;
  /** When and why the call for the pet of each name failed. */
  const failures = new Map<string, { readonly at: number; readonly failure: Error }>();
  const calls: Promise<void>[] = [];
  async function create(index: number): Promise<void> {
    const newPet = rex({ name: `Rex ${index}` });
    const idempotency = index % 2 === 0 ? undefined : idempotencyOf(newPet, `late-${index}`);
    const failure = await failureOf(() => added(pets, newPet, idempotency));
    if (failure !== null) failures.set(newPet.name, { at: Date.now(), failure });
  }
  const asked = Date.now();
  const { id } = await added(pets);
  /** How far the clock of the place is ahead, at most. */
  const ahead = ((await archive.read(id - 1n, 1))[0]?.createdAt ?? 0) - asked;
  await begin();
  for (let index = 0; index < CREATIONS; index += 1) {
    calls.push(create(index));
    await sleep(INTERVAL);
  }
  expect(failures.size, 'creations that failed while writes had to wait').toBeGreaterThan(CREATIONS / 4);
  const ended = Date.now();
  await end();
  const message = 'a creation after the end';
  await expect.poll(() => failureOf(() => added(pets)), { timeout: recovery, message }).toBeNull();
  await Promise.all(calls);
  for (const { failure } of failures.values()) expectUnavailable('pets.add', failure, storage);
  // A call may be the first one on a connection that an outage has left silent.
  const eventually = <Result>(call: () => Promise<Result>) => vi.waitFor(call, { timeout: recovery });
  // Those that wait in a queue are stored before it.
  await eventually(() => added(pets));
  const late = (await eventually(() => archive.read(0n, 1_000))).flatMap(({ name, createdAt }) => {
    const failed = failures.get(name)?.at ?? Number.POSITIVE_INFINITY;
    const delay = Math.max(createdAt - ahead, executes ? 0 : ended) - failed;
    return delay > TOLERANCE ? [`${name} ${delay} ms`] : [];
  });
  expect(late, 'creations that began after their call had failed').toEqual([]);
}
