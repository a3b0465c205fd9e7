import type { Storage } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { allRight, atOnce, expectMayPass, rightOrUnavailable } from './calls.ts';
import { addEach, type Interruption, inEach, recovered } from './interruption.ts';
import { everyCall, everyWrite, readyOf } from './port-calls.ts';
import {
  opened,
  type PartialOutage,
  type PartialOutages,
  type StorageUnderTest,
  TEST_LIMIT,
} from './storage-under-test.ts';

/** So many are in each of some partitions. */
const COUNT = 60;

/** So few meet each of three partitions. */
const FEW = 10;

/** The behaviour of a storage while a part of its place is away, and afterwards. `storageContract` includes it. */
export function partialOutageContract<Place>(adapter: StorageUnderTest<Place>, outages: PartialOutages<Place>): void {
  test('is right or unavailable in each call while a part of its place is away, not ready if one is unavailable, and works if others take over', {
    timeout: TEST_LIMIT,
  }, async () => {
    for (const outage of Object.entries(outages))
      await inEach(adapter, [outage], (interruption, way) => expectRightWithoutPart(adapter, interruption, way));
  });
}

async function expectRightWithoutPart<Place>(
  adapter: StorageUnderTest<Place>,
  { place, storage, calls, begin, end }: Interruption<Place>,
  { takenOverWithin, passes = false }: PartialOutage<Place>,
): Promise<void> {
  for (let count = 0; count < COUNT; count += 1) await addEach(calls, storage);
  await begin();
  const opening = await opened(adapter, place);
  // As a process that starts now.
  const failures = await rightOrUnavailable(everyCall(opening, calls, 1), opening);
  if (passes) expectMayPass(Object.values(failures));
  let isTrue = false;
  // In one round the rest may take over what the part has done.
  for (let round = 0; round < 3 && !isTrue; round += 1) {
    const ready = () => rightOrUnavailable(readyOf(storage), storage);
    const before = await ready();
    const reads = rightOrUnavailable(calls.reads(storage, 2 * COUNT), storage);
    const writes = atOnce(COUNT, (index) => rightOrUnavailable(everyWrite(storage, calls, index + 1), storage));
    const ends = [await reads, ...(await writes)];
    const after = await ready();
    const isRight = (end: object) => Object.values(end).every((failure) => failure === null);
    isTrue = ![before, after].every(isRight) || ends.every(isRight);
  }
  expect(isTrue, '`ready` fails if another call is unavailable').toBe(true);

  const expectWorks = async (used: Storage, limit?: number) => {
    await recovered(used, limit, passes);
    await allRight(calls.reads(used, 2 * COUNT));
    for (let count = 0; count < FEW; count += 1)
      for (const [name, write] of Object.entries(calls.writes(used))) await allRight({ [name]: write });
    await calls.expectKept(used);
  };
  if (takenOverWithin !== undefined) {
    const takeOver = async (name: string, used: Storage) =>
      expectWorks(used, takenOverWithin).catch((failure) => {
        failure.message = `while others take over${name}: ${failure.message}`;
        throw failure;
      });
    await takeOver('', storage);
    await takeOver(', opened then', await opened(adapter, place));
  }
  await end();
  // What was away may join later.
  const starting = await opened(adapter, place);
  for (const each of [storage, opening, starting]) await expectWorks(each);
}
