// Interruptions: while something is away, each call is right or unavailable in time. Afterwards all that was acknowledged is
// there, once.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import { failureOf } from './calls.ts';
import { lateWritesContract } from './late-writes.ts';
import { CALLERS, CLOSE_LIMIT, RECOVERY_LIMIT } from './limits.ts';
import { isWrite } from './methods.ts';
import { OWN } from './model/calls.ts';
import {
  atNewPlace,
  atProxies,
  CHANGED,
  type Client,
  KNOWN,
  type Lane,
  type ProxiedScene,
  switchOf,
  together,
} from './model/interrupted.ts';
import { runInAnotherProcess } from './other-process.ts';
import { MOVED } from './samples.ts';
import { expectClosed, expectMisconfigured } from './settings.ts';
import {
  type Interruption,
  type Interruptions,
  isOutage,
  isWhole,
  type StorageUnderTest,
  TEST_LIMIT,
} from './storage-under-test.ts';
import { amid } from './tcp-proxy.ts';

/** So many pets and API keys are in each of some partitions. */
const CROWD = 60;

/** When a response comes, in milliseconds: later than the timeout of a driver, and sooner than the limit of a call. */
const LATE = 700;

/** Before all calls. */
async function beforeAllCalls<Place>(
  adapter: StorageUnderTest<Place>,
  [name, interruption]: readonly [string, Interruption<Place>],
  breaksConnections = false,
): Promise<void> {
  const { leaves, line, passes } = interruption;
  const isAway = isWhole(interruption);
  const allWithin = typeof leaves === 'object' ? leaves.allWithin : undefined;
  await atNewPlace(adapter, name, async ({ sequence, place, one, other, opening }) => {
    const { begin, end } = switchOf(sequence, interruption, name);
    const proxy = adapter.proxyOf?.(place);
    let index = CHANGED + 1;

    /** Runs each call several times: calls may wait for each other. */
    async function runAll(client: Client, count = 1): Promise<void> {
      const lanes = Array.from({ length: count }, () => client.every(index++, CHANGED)).flat();
      for (const { call, failure } of await sequence.run(lanes))
        if (isAway && isWrite(call.text)) expect(failure, call.text).not.toBeNull();
    }

    /** Expects a cause for the operator. A call that waits for others may have none. */
    async function expectCause(): Promise<void> {
      async function readCause(): Promise<string> {
        const cause = (await one.ready())?.cause;
        if (line && !StorageMisconfigured.is(cause)) return `no StorageMisconfigured, but ${cause}`;
        return cause instanceof Error ? cause.message || cause.name : '';
      }
      const message = 'the cause of `storage_unavailable`, for the operator';
      await expect.poll(readCause, { timeout: RECOVERY_LIMIT, message }).toMatch(line ?? /./);
    }

    async function whileAway(): Promise<void> {
      // Creations may be acknowledged until the storage has looked.
      expect(await one.ready(), 'ready').not.toBeNull();
      await expectCause();
      await runAll(one, 10);
      // One that is opened where nothing is left would make a new place.
      if (line) return;
      await opening.open();
      await runAll(opening);
      expect(await opening.ready(), 'ready').not.toBeNull();
      await other.open();
      const inFlight = runAll(other);
      await nextTurn();
      expect(await failureOf(() => other.close(), CLOSE_LIMIT), 'close').toBeNull();
      await inFlight;
    }

    async function withoutPart(): Promise<void> {
      await opening.open();
      await runAll(opening);
      await opening.ready();
      let isTrue = false;
      // In one round the rest may take over what the part has done.
      for (let round = 0; round < 3 && !isTrue; round += 1) {
        const before = await one.ready();
        const numbers = Array.from({ length: CROWD }, (_, number) => number);
        const reads = numbers.flatMap((number) => [
          [one.call('pets.find', OWN + number), one.call('keys.find', 1_000 + number)],
          [one.call('pets.find', OWN + CROWD + number)],
        ]);
        const writes = numbers.map((number) => [
          one.call('keys.recordUse', 1_000 + number, round % 2),
          one.call('keys.revoke', 1_000 + number),
          one.call('pets.add', 4),
        ]);
        const ends = await sequence.run([...reads, ...writes, ...one.every(index++)]);
        const isRight = ends.every(({ failure }) => failure === null);
        isTrue = Boolean(before ?? (await one.ready())) || isRight;
      }
      expect(isTrue, '`ready` fails if another call is unavailable').toBe(true);
    }

    async function expectWorks(client: Client): Promise<void> {
      const before = sequence.slow();
      // One after the other: fewer may fail slowly than a pool has connections.
      const additions = Array.from({ length: 30 }, () => client.call('keys.add', index++));
      await sequence.run([[...additions, ...client.every(index++).flat()]]);
      expect(sequence.slow() - before, 'slow calls that failed').toBeLessThan(4);
      await client.expectKept();
    }

    for (let number = 0; number < (isAway ? 0 : CROWD); number += 1)
      await sequence.run([one.writes(1_000 + number).slice(0, 3)]);
    // What this storage has read, another one changes.
    await sequence.run(one.reads());
    await sequence.run([[...other.writes(CHANGED), ...other.writes(KNOWN).slice(3)]]);
    await other.close();
    await sequence.disturbed(
      async () => {
        // A storage may remember for a time that it was ready.
        await expect.poll(() => one.ready(), { timeout: RECOVERY_LIMIT, message: 'ready' }).toBeNull();
        await begin();
        // Then a new connection is the first to meet it.
        if (breaksConnections) proxy?.pass();
        await (isAway ? whileAway() : withoutPart());
        if (allWithin === undefined) await end();
      },
      passes,
      allWithin,
    );
    for (const client of [one, opening]) await expectWorks(client);
    if (allWithin !== undefined) {
      // What was away may join later.
      await sequence.disturbed(end, passes);
      for (const client of [one, opening]) await expectWorks(client);
    }
    await expectWorks(other);
    const silentConnections = () => proxy?.silentConnections() ?? 0;
    await expect.poll(silentConnections, { timeout: RECOVERY_LIMIT, message: 'replaced, but not closed' }).toBe(0);
  });
}

/** After so many chunks of each call, and then after `by` more, until no call has so many. */
async function atEachChunk(
  { sequence, one, proxy }: ProxiedScene,
  [first, by]: readonly [number, number],
  disturb: Parameters<typeof amid>[3],
): Promise<void> {
  const left = new Set(one.every(OWN).keys());
  for (let chunks = first; left.size > 0; chunks += by) {
    const index = CHANGED + 1 + 2 * chunks;
    const known = [index, index + 1].map((each) => one.call('keys.add', each));
    await sequence.run([[...known, ...one.writes(index).slice(3)]]);
    for (const number of left) {
      // At once, so that a pool has several open connections.
      await sequence.run(one.reads());
      await sequence.disturbed(async () => {
        sequence.log.push(`after ${chunks} chunks of what follows, it is disturbed:`);
        const run = () => sequence.run([one.every(index, index + 1)[number] as Lane]);
        await amid(proxy, chunks, run, (reset, ended) => {
          if (reset === null) left.delete(number);
          return disturb(reset, ended);
        });
      });
    }
    await one.expectKept();
  }
}

/**
 * Amid the writes of 20 callers.
 *
 * @param timing From 0. It begins after as many acknowledged writes as its square: at 0, after the first. An odd one ends at
 * once, an even one when all callers have failed.
 */
async function amidWrites<Place>(
  adapter: StorageUnderTest<Place>,
  [name, interruption]: readonly [string, Interruption<Place>],
  timing: number,
): Promise<void> {
  await atNewPlace(adapter, name, async ({ sequence, one }) => {
    const { begin, end } = switchOf(sequence, interruption, name);
    const lanes = Array.from({ length: CALLERS }, (_, caller) =>
      Array.from({ length: 5 }, (_, round) => {
        const writes = one.writes(CHANGED + 5 * caller + round);
        return caller % 2 === 0 ? writes.slice(0, 2) : writes.slice(2);
      }).flat(),
    );
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    let acknowledged = 0;
    const onEnd = (failure: Error | null) => {
      acknowledged += failure === null ? 1 : 0;
      if (failure === null && acknowledged >= timing ** 2) resolve();
      return failure === null;
    };
    await sequence.disturbed(async () => {
      const writes = sequence.run(lanes, onEnd);
      await Promise.race([writes, enough]);
      await begin();
      if (timing % 2 === 1) await end();
      await writes;
      await end();
    }, interruption.passes);
    await one.expectKept();
  });
}

/** Amid a restore. */
async function amidRestore({ sequence, one, proxy }: ProxiedScene): Promise<void> {
  if ((await one.open()).archive === undefined) return;
  for (const [round, chunks] of [1, 2, 4, 8, 64].entries()) {
    // One has the id of a pet that is there.
    const pets = Array.from(
      { length: MOVED },
      (_, number) => [10_000 * (round + 1) + number, 0, number === 9] as const,
    );
    const given = { actor: one.actor, batch: OWN + round, gap: 5n, pets };
    await sequence.disturbed(async () => {
      sequence.log.push(`after ${chunks} chunks of what follows, all connections break:`);
      await sequence.restore(given, (begin) =>
        amid(proxy, chunks, begin, async (_, ended) => {
          proxy.cut();
          // What the engine has received may still be stored.
          await ended;
          proxy.pass();
        }),
      );
    });
    await one.readAll();
    // Its id is above those of the pets that were stored.
    await sequence.run([[one.call('pets.add', 4)]]);
    // By the same storage: it may remember what it has sent.
    await sequence.restore(given, undefined, true);
    await one.expectKept();
  }
}

/** Before an opening. */
async function beforeOpening<Place>(
  adapter: StorageUnderTest<Place>,
  [name, interruption]: readonly [string, Interruption<Place>],
): Promise<void> {
  await atNewPlace(adapter, name, async ({ sequence, place, one, other }) => {
    const { begin, end } = switchOf(sequence, interruption, name);
    for (const each of [one, other]) await each.close();
    await begin();
    await expectClosed(adapter, place, () => expectMisconfigured(adapter, place));
    await end();
    await one.expectKept();
  });
}

/** The checks of interruptions, and those of late writes. */
export function interruptionsContract<Place>(
  adapter: StorageUnderTest<Place>,
  interruptions: Interruptions<Place>,
): void {
  const { proxyOf, inAnotherProcess } = adapter;
  const all = Object.entries(interruptions);
  const outages = all.filter(([, each]) => isOutage(each));
  const losses = all.filter(([, each]) => isWhole(each) && !isOutage(each));
  const partial = all.filter(([, { leaves }]) => leaves === 'a part' || typeof leaves === 'object');

  lateWritesContract(adapter, outages);

  describe('interruptions', { timeout: TEST_LIMIT }, () => {
    if (outages.length > 0) {
      test('is right or unavailable in each call, and works again with all that it acknowledged', () =>
        together(outages.map((outage) => beforeAllCalls(adapter, outage))));

      test('keeps all that it acknowledged if the interruption begins amid the writes of 20 callers', async () => {
        for (const outage of outages)
          await together(Array.from({ length: 8 }, (_, timing) => amidWrites(adapter, outage, timing)));
      });

      if (inAnotherProcess !== undefined)
        test('keeps another process alive until its creation has a result or is unavailable, and then lets it end', () =>
          together(
            outages.map((outage) =>
              atNewPlace(adapter, outage[0], async ({ sequence, place }) => {
                await switchOf(sequence, outage[1], outage[0]).begin();
                const end = await runInAnotherProcess(inAnotherProcess(place), 'create');
                expect(['Rex', 'storage_unavailable']).toContain(end);
              }),
            ),
          ));
    }

    if (losses.length > 0)
      test('says that what was stored is gone, makes nothing in its place, and works again once it is back', () =>
        together(
          [false, ...(proxyOf ? [true] : [])].flatMap((breaks) =>
            losses.map((loss) => beforeAllCalls(adapter, loss, breaks)),
          ),
        ));

    const opening = all.filter(([, { leaves }]) => leaves === 'open storages');
    if (opening.length > 0)
      test('rejects a place that it cannot use, and leaves it unchanged', () =>
        together(opening.map((each) => beforeOpening(adapter, each))));

    if (partial.length > 0)
      test('is right or unavailable without a part of its place, and not ready if a call is unavailable', async () => {
        // It may affect other places.
        for (const part of partial) await beforeAllCalls(adapter, part);
      });

    if (proxyOf !== undefined) {
      const at = atProxies(adapter, proxyOf);

      test('is right or unavailable in each call, and does no write twice, wherever connections break', () =>
        together(
          [1, 2, 3, 4].flatMap((first) => [
            at('all connections break', (scene) =>
              atEachChunk(scene, [first, 4], () => {
                scene.proxy.cut();
                // New connections work at once: an adapter may be tempted to try again.
                scene.proxy.pass();
              }),
            ),
            at('one connection breaks', (scene) => atEachChunk(scene, [first, 4], (reset) => reset?.())),
          ]),
        ));

      test('is right or unavailable in each call, and does no write twice, whichever response comes late', () =>
        together(
          Array.from({ length: 8 }, (_, first) =>
            at('a late response', (scene) =>
              atEachChunk(scene, [first, 8], async (_, ended) => {
                scene.proxy.delayResponses(LATE);
                // A response, and a request: that of a driver which has waited for long enough gets its response next.
                await Promise.race([ended, scene.proxy.afterChunks(2)]);
                scene.proxy.delayResponses(0);
              }),
            ),
          ),
        ));

      test('completes a restore that was interrupted anywhere if it is repeated', () =>
        at('an interrupted restore', amidRestore));
    }
  });
}
