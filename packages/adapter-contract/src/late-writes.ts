// Late writes: nothing is written after its call has failed.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CALLERS, RECOVERY_LIMIT, TRIES } from './limits.ts';
import {
  atNewPlace,
  atProxies,
  CHANGED,
  IN_FLIGHT,
  KNOWN,
  type ProxiedScene,
  switchOf,
  together,
} from './model/interrupted.ts';
import { type Interruption, type StorageUnderTest, TEST_LIMIT } from './storage-under-test.ts';

/** What has not changed for so long changes no more, in milliseconds. */
const SETTLED = 1_000;

/** Writes take too long, and their requests are then held: nothing more is written. */
async function betweenResponses({ sequence, one, other, proxy }: ProxiedScene, delay: number): Promise<void> {
  const callers = Array.from({ length: CALLERS }, (_, number) => CHANGED + number);
  await sequence.run(callers.map((index) => [one.call('keys.add', 1_000 + index)]));
  await sequence.disturbed(async () => {
    proxy.delayResponses(delay);
    sequence.log.push(`each response comes after ${delay} ms`);
    const writes = callers.flatMap((index) => [
      ...one.writes(index).slice(0, 3),
      ...one.writes(1_000 + index).slice(3),
    ]);
    const hold = async () => {
      // What was sent at the last moment is executed.
      await sleep(IN_FLIGHT);
      // What is sent now waits. The open connections stay: what was begun goes on.
      proxy.holdRequests();
      proxy.delayResponses(0);
    };
    const lanes = writes.map((call) => [call]);
    await sequence.run(lanes, undefined, hold);
    await other.open(true);
    // The last responses, for which no call waits any more, may come so late.
    await sleep(SETTLED + delay);
    sequence.settle(true);
    // In some engines reads wait for the locks of what was begun, and can tell nothing.
    let left = TRIES;
    while (left > 0 && !(await other.readAll())) left -= 1;
    proxy.deliver();
    sequence.log.push('requests that were sent later are delivered');
    await sleep(SETTLED);
    await other.readAll();
    proxy.pass();
  });
  await one.expectKept();
}

/**
 * Requests of an earlier connection arrive later than those of the next.
 *
 * @param isReset Whether the client learns that its connection is lost, and may repeat its requests.
 */
async function lateRequests({ sequence, one, proxy }: ProxiedScene, isReset: boolean): Promise<void> {
  // At once, so that a pool has several open connections.
  await sequence.run(one.reads());
  await sequence.disturbed(async () => {
    proxy.holdRequests();
    sequence.log.push('requests on the open connections wait');
    const calls = [one.call('keys.recordUse', KNOWN, 0), one.call('pets.add', 4)];
    const ended = sequence.run(calls.map((call) => [call]));
    if (isReset) {
      await sleep(IN_FLIGHT);
      proxy.resetWaiting();
      sequence.log.push('their clients lose these connections');
    }
    await ended;
  });
  await sequence.run([[one.call('keys.recordUse', KNOWN, 1)]]);
  proxy.deliver();
  sequence.log.push('they are delivered');
  await sleep(3 * IN_FLIGHT);
  await one.expectKept();
}

/** 20 writes a second for almost three times as long as a call may take: none is executed once its call has failed. */
export async function expectNoLateWrites<Place>(
  adapter: StorageUnderTest<Place>,
  name: string,
  interruption: Interruption<Place>,
): Promise<void> {
  const { executes, passes } = interruption;
  await atNewPlace(adapter, name, async ({ sequence, one }) => {
    const { begin, end } = switchOf(sequence, interruption, name);
    const indexes = Array.from({ length: 30 }, (_, number) => CHANGED + number);
    for (const index of indexes) await sequence.run([[one.call('keys.add', 1_000 + index)]]);
    // What a slow place has executed until it works again is no late write.
    await sequence.disturbed(async () => {});
    sequence.settle(true);
    await sequence.disturbed(async () => {
      await begin();
      let failed = 0;
      const writes = indexes.flatMap((index) => [
        ...one.writes(index).slice(0, 3),
        one.call(index % 2 ? 'keys.revoke' : 'keys.recordUse', 1_000 + index),
      ]);
      const lanes = writes.map(({ actor, call }, number) => [{ actor, call: { ...call, after: sleep(50 * number) } }]);
      await sequence.run(lanes, (failure) => {
        failed += failure ? 1 : 0;
        return true;
      });
      expect(failed, 'writes that failed while they had to wait').toBeGreaterThan(lanes.length / 4);
      await sleep(3 * IN_FLIGHT);
      if (!executes) sequence.settle(false);
      // These are in flight at the end.
      const last = sequence.run(indexes.map((index) => [one.call('pets.add', 2_000 + index)]));
      await sleep(IN_FLIGHT);
      await end();
      await last;
      // Creations that wait in a queue are stored before this one.
      const create = async () => (await sequence.run([[one.call('pets.add', 4)]]))[0]?.failure;
      await expect
        .poll(create, { timeout: RECOVERY_LIMIT, message: `a creation after the end of "${name}"` })
        .toBeNull();
    }, passes);
    await one.expectKept();
  });
}

/** @param outages The interruptions in which each write fails. */
export function lateWritesContract<Place>(
  adapter: StorageUnderTest<Place>,
  outages: readonly (readonly [name: string, outage: Interruption<Place>])[],
): void {
  const { proxyOf } = adapter;
  if (outages.length === 0 && proxyOf === undefined) return;
  describe('late writes', { timeout: TEST_LIMIT }, () => {
    if (outages.length > 0)
      test('writes nothing after a call has failed', () =>
        together(outages.map((outage) => expectNoLateWrites(adapter, ...outage))));

    if (proxyOf !== undefined) {
      const at = atProxies(adapter, proxyOf);

      test('writes nothing after a call has failed between two responses, and leaves no half of a write', () =>
        together(
          // Calls of five, four, three and two requests fail between them.
          [480, 600, 900, 2_000].map((delay) =>
            at(`each response after ${delay} ms`, (scene) => betweenResponses(scene, delay)),
          ),
        ));

      test('keeps what it acknowledged if requests of an earlier connection arrive later than those of the next', () =>
        together([false, true].map((isReset) => at('late requests', (scene) => lateRequests(scene, isReset)))));
    }
  });
}
