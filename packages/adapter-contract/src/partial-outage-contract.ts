import { expect, test } from 'vitest';
import { allRight, atOnce, rightOrUnavailable } from './calls.ts';
import { addEach, inEach, recovered } from './interruption.ts';
import { everyWrite } from './port-calls.ts';
import type { Outages, StorageUnderTest } from './storage-under-test.ts';

/** So many are in each of some partitions. */
const COUNT = 60;

/** The behaviour of a storage while a part of its place is away, and afterwards. */
export function partialOutageContract<Place>(adapter: StorageUnderTest<Place>, outages: Outages<Place>): void {
  test('is right or unavailable in each call while a part of its place is away, and not ready if one is unavailable', () =>
    inEach(adapter, Object.entries(outages), async ({ storage, calls, begin, end }) => {
      for (let count = 0; count < COUNT; count += 1) await addEach(calls, storage);
      await begin();
      let isTrue = false;
      // In one round the rest may take over what the part has done.
      for (let round = 0; round < 3 && !isTrue; round += 1) {
        const ready = () => rightOrUnavailable({ ready: () => storage.ready() }, storage);
        const before = await ready();
        const reads = rightOrUnavailable(calls.reads(storage, 2 * COUNT), storage);
        const writes = atOnce(COUNT, (index) => rightOrUnavailable(everyWrite(storage, calls, index + 1), storage));
        const ends = [await reads, ...(await writes)];
        const after = await ready();
        const isRight = (end: object) => Object.values(end).every((failure) => failure === null);
        isTrue = ![before, after].every(isRight) || ends.every(isRight);
      }
      expect(isTrue, '`ready` fails if another call is unavailable').toBe(true);
      await end();
      await recovered(storage);
      await allRight(calls.reads(storage, 2 * COUNT));
      await calls.expectKept(storage);
    }));
}
