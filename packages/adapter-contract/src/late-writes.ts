import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ApiKey } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { expectUnavailable, failureOf, patiently } from './calls.ts';
import { added, apiKey, everyKey, idempotencyOf, rex } from './samples.ts';

/** 20 writes a second for 6 seconds: almost three times as long as a call may take. */
const WRITES = 120;
const INTERVAL = 50;

/** How soon a creation must begin that works again, in milliseconds. */
const SOON = 1_000;

/** How long before the end a call may fail whose write is committed at the end, in milliseconds. */
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
 * Expects that a storage begins no write after its call has failed, and creates again at once when writes no longer wait.
 * Otherwise it stores pets and API keys minutes after their callers were told that it did not.
 */
export async function expectNoLateWrites(
  storage: Required<Pick<Storage, 'pets' | 'keys' | 'archive' | 'location'>>,
  { begin, end }: { begin(): Promise<void>; end(): Promise<void> },
  { executes = false, recovery = SOON }: Differences = {},
): Promise<void> {
  const { pets, keys, archive } = storage;
  const records = Array.from({ length: WRITES }, () => apiKey());
  /** Each of them changes what no other changes. */
  function write(index: number): Promise<unknown> {
    const record = records[index] as ApiKey;
    const newPet = rex({ name: `Max ${index}` });
    if (index % 4 === 0) return pets.add(newPet);
    if (index % 4 === 1) return pets.add(newPet, idempotencyOf(newPet, `late-${index}`));
    if (index % 4 === 2) return keys.add(record);
    return index % 8 === 3 ? keys.revoke(record.id, 5) : keys.recordUse(record.id, 5);
  }
  const known = records.filter((_, index) => index % 4 === 3);
  // On a busy machine so many at once could take longer than a call may.
  for (const record of known) await keys.add(record);
  const asked = Date.now();
  const { id } = await added(pets);
  /** How far the clock of the place is ahead, at most. */
  const ahead = ((await archive.read(id - 1n, 1))[0]?.createdAt ?? 0) - asked;

  const failures = new Map<number, { readonly at: number; readonly failure: Error }>();
  const calls: Promise<void>[] = [];
  await begin();
  for (let index = 0; index < WRITES; index += 1) {
    const end = (failure: Error | null) => void (failure && failures.set(index, { at: Date.now(), failure }));
    calls.push(failureOf(() => write(index)).then(end));
    await sleep(INTERVAL);
  }
  expect(failures.size, 'writes that failed while they had to wait').toBeGreaterThan(WRITES / 4);
  const ended = Date.now();
  await end();
  let left = recovery;
  let failure: Error | null;
  // As in `failureOf`, only the turns of the event loop count.
  const countDown = async () => {
    for (; left > 0; left -= INTERVAL) await sleep(INTERVAL);
  };
  const counted = countDown();
  do {
    failure = await failureOf(() => added(pets));
  } while (failure !== null && left > 0 && (await sleep(INTERVAL, true)));
  left = 0;
  await counted;
  expect(failure, 'a creation after the end').toBeNull();
  await Promise.all(calls);
  for (const { failure } of failures.values()) expectUnavailable('a write', failure, storage);
  // Those that wait in a queue are stored before it.
  await patiently(() => added(pets));
  const created = new Map((await patiently(() => archive.read(0n, 1_000))).map((pet) => [pet.name, pet.createdAt]));
  const stored = new Map((await patiently(() => everyKey(keys))).map((record) => [record.id, record]));
  /** When a write was done, as far as it shows; undefined if it was not. */
  function timeOf(index: number): number | undefined {
    if (index % 4 < 2) {
      const createdAt = created.get(`Max ${index}`);
      return createdAt && Math.max(createdAt - ahead, executes ? 0 : ended);
    }
    const before = index % 4 === 2 ? undefined : records[index];
    const isDone = !isDeepStrictEqual(stored.get((records[index] as ApiKey).id), before);
    return isDone && !executes ? ended : undefined;
  }
  const late = [...failures].flatMap(([index, { at }]) => {
    const delay = (timeOf(index) ?? 0) - at;
    return delay > TOLERANCE ? [`${index % 4 < 2 ? 'a creation' : 'a change of an API key'} ${delay} ms`] : [];
  });
  expect(late, 'writes that began after their call had failed').toEqual([]);
}
