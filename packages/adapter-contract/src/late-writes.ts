// Late writes: nothing is written after its call has failed.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { CALLERS, RECOVERY_LIMIT, TRIES } from './limits.ts';
import {
  atNewPlace,
  CHANGED,
  callOf,
  expectKept,
  IN_FLIGHT,
  KNOWN,
  readsOf,
  switchOf,
  writesOf,
} from './model/interrupted.ts';
import type { Actor, Sequence } from './model/sequence.ts';
import type { Interruption, StorageUnderTest } from './storage-under-test.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/** What has not changed for so long changes no more, in milliseconds. */
const SETTLED = 1_000;

/** Writes take too long, and their requests are then held: nothing more is written. */
export async function betweenResponses(sequence: Sequence, proxy: TcpProxy, delay: number): Promise<void> {
  const [one, other] = [0, 1].map(sequence.actorAt) as [Actor, Actor];
  const callers = Array.from({ length: CALLERS }, (_, number) => CHANGED + number);
  await sequence.run(callers.map((index) => [callOf(sequence, one, 'keys.add', 1_000 + index)]));
  await sequence.disturbed(async () => {
    proxy.delayResponses(delay);
    sequence.log.push(`each response comes after ${delay} ms`);
    const writes = callers.flatMap((index) => [
      ...writesOf(sequence, one, index).slice(0, 3),
      ...writesOf(sequence, one, 1_000 + index).slice(3),
    ]);
    const hold = async () => {
      // What was sent at the last moment is executed.
      await sleep(IN_FLIGHT);
      // What is sent now waits. The open connections stay: what was begun goes on.
      proxy.holdRequests();
      proxy.delayResponses(0);
    };
    const lanes = writes.map((call) => [call]);
    await sequence.run(lanes, undefined, undefined, hold);
    await sequence.openedBy(other);
    // The last responses, for which no call waits any more, may come so late.
    await sleep(SETTLED + delay);
    sequence.settle(true);
    // In some engines reads wait for the locks of what was begun, and can tell nothing.
    let left = TRIES;
    while (left > 0 && !(await sequence.readAll(other))) left -= 1;
    proxy.deliver();
    sequence.log.push('requests that were sent later are delivered');
    await sleep(SETTLED);
    await sequence.readAll(other);
    proxy.pass();
  });
  await expectKept(sequence, one);
}

/**
 * Requests of an earlier connection arrive later than those of the next.
 *
 * @param isReset Whether the client learns that its connection is lost, and may repeat its requests.
 */
export async function lateRequests(sequence: Sequence, proxy: TcpProxy, isReset: boolean): Promise<void> {
  const one = sequence.actorAt(0);
  // At once, so that a pool has several open connections.
  await sequence.run(readsOf(sequence, one));
  await sequence.disturbed(async () => {
    proxy.holdRequests();
    sequence.log.push('requests on the open connections wait');
    const calls = [callOf(sequence, one, 'keys.recordUse', KNOWN, 0), callOf(sequence, one, 'pets.add', 4)];
    const ended = sequence.run(calls.map((call) => [call]));
    if (isReset) {
      await sleep(IN_FLIGHT);
      proxy.resetWaiting();
      sequence.log.push('their clients lose these connections');
    }
    await ended;
  });
  await sequence.run([[callOf(sequence, one, 'keys.recordUse', KNOWN, 1)]]);
  proxy.deliver();
  sequence.log.push('they are delivered');
  await sleep(3 * IN_FLIGHT);
  await expectKept(sequence, one);
}

/** 20 writes a second for almost three times as long as a call may take: none is executed once its call has failed. */
export async function expectNoLateWrites<Place>(
  adapter: StorageUnderTest<Place>,
  name: string,
  interruption: Interruption<Place>,
): Promise<void> {
  const { executes, passes } = interruption;
  await atNewPlace(adapter, name, async (sequence) => {
    const { begin, end } = switchOf(sequence, interruption, name);
    const one = sequence.actorAt(0);
    const indexes = Array.from({ length: 30 }, (_, number) => CHANGED + number);
    for (const index of indexes) await sequence.run([[callOf(sequence, one, 'keys.add', 1_000 + index)]]);
    await sequence.disturbed(async () => {
      await begin();
      let failed = 0;
      const writes = indexes.flatMap((index) => [
        ...writesOf(sequence, one, index).slice(0, 3),
        callOf(sequence, one, index % 2 ? 'keys.revoke' : 'keys.recordUse', 1_000 + index),
      ]);
      const lanes = writes.map(({ actor, call }, number) => [{ actor, call: { ...call, delay: 50 * number } }]);
      await sequence.run(lanes, undefined, (failure) => {
        failed += failure ? 1 : 0;
        return true;
      });
      expect(failed, 'writes that failed while they had to wait').toBeGreaterThan(lanes.length / 4);
      await sleep(3 * IN_FLIGHT);
      if (!executes) sequence.settle(false);
      await end();
      // Creations that wait in a queue are stored before this one.
      const create = async () => (await sequence.run([[callOf(sequence, one, 'pets.add', 4)]]))[0]?.failure;
      await expect
        .poll(create, { timeout: RECOVERY_LIMIT, message: `a creation after the end of "${name}"` })
        .toBeNull();
    }, passes);
    await expectKept(sequence, one);
  });
}
