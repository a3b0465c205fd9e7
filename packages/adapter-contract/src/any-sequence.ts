// Any sequence: whatever storages, processes and operators do one after the other or at once, each result is one that the ports
// allow.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ALL_PETS, type Ports } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { atOnce } from './calls.ts';
import { together } from './model/interrupted.ts';
import { plansOf, runPlan } from './model/steps.ts';
import { added, apiKey, expectSame } from './samples.ts';
import { portsAt, type StorageUnderTest, TEST_LIMIT, testOf } from './storage-under-test.ts';

/** By default. Another seed makes other sequences. */
export const [SEED, SEQUENCES] = [63, 18];

/** So many sequences run at once: they wait most of the time. */
const AT_ONCE = 3;

/** The error of the shortest sequence that was found to fail, or null. */
export async function failureOfSequences<Place>(adapter: StorageUnderTest<Place>): Promise<Error | null> {
  const { seed = SEED, numRuns = SEQUENCES } = fc.readConfigureGlobal();
  let failing: number | undefined;
  /** Shorter sequences are looked for until then. */
  let latest = Infinity;
  const checks = await atOnce(AT_ONCE, (number) => {
    const property = fc.asyncProperty(plansOf(adapter), async (plan) => {
      if ((failing ?? number) !== number || performance.now() > latest) return;
      await runPlan(adapter, plan).catch((error) => {
        if (failing === undefined) [failing, latest] = [number, performance.now() + TEST_LIMIT / 3];
        throw error;
      });
    });
    return fc.check(property, { seed: AT_ONCE * seed + number, numRuns: Math.ceil((numRuns - number) / AT_ONCE) });
  });
  const check = checks[failing ?? checks.findIndex(({ failed }) => failed)];
  if (!check?.failed) return null;
  // The author's settings of fast-check may interrupt sequences, and take that for a failure.
  const error = (check.errorInstance ?? new Error(fc.defaultReportMessage(check))) as Error;
  error.message += `\nThe seed ${seed} makes the same sequences. For others: fc.configureGlobal({ seed: ${seed + 1} })`;
  return error;
}

/** Any sequence of calls, and more calls at once than a sequence has, which authors got wrong. */
export function anySequenceContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  /** Storages of a place that are opened, and used for the first time, at once. */
  const openedAtOnce = (place: Place, count: number) =>
    atOnce(count, async (number) => {
      const ports = await portsAt(adapter, place, number % 3);
      await ports.pets.find(1n);
      return ports;
    });

  test('is right in any sequence of calls', async () => {
    const failure = await failureOfSequences(adapter);
    if (failure) throw failure;
  });

  test('shows a pet to every read that begins after its acknowledgement, although others are in flight', async ({
    pets,
  }) => {
    const inFlight: unknown[] = [];
    const everything = { ...ALL_PETS, after: 0n, limit: 100 };
    let last = 0n;
    const createMany = async () => {
      for (let count = 0; count < 15; count += 1) {
        // The same reads as below: an adapter could share their results.
        for (let id = last + 1n; id < last + 6n; id += 1n) inFlight.push(pets.find(id), pets.list(everything));
        const pet = await added(pets);
        last = pet.id;
        const [found, page] = await Promise.all([pets.find(pet.id), pets.list(everything)]);
        expectSame(found, pet);
        expectSame(
          page.filter(({ id }) => id === pet.id),
          [pet],
          'the pet in the page',
        );
      }
    };
    await atOnce(5, createMany).finally(() => Promise.allSettled(inFlight));
    await Promise.all(inFlight);
  });

  test('shows an API key that another storage has added or revoked at once, beside creations', async ({ place }) => {
    const [one, other] = (await openedAtOnce(place, 2)) as [Ports, Ports];
    let isOver = false;
    async function change(): Promise<void> {
      for (let round = 0; round < 30; round += 1) {
        const record = apiKey();
        const find = () => other.keys.find(record.digest);
        expect(await find()).toBeNull();
        await one.keys.add(record);
        expectSame(await find(), record);
        await one.keys.revoke(record.id, 5);
        expectSame(await find(), { ...record, revokedAt: 5 });
      }
    }
    const changes = change().finally(() => {
      isOver = true;
    });
    // A replica lags if it has much to do.
    const creations = atOnce(30, async (index) => {
      for (; !isOver; await nextTurn()) await added((index % 2 ? one : other).pets);
    });
    await together([changes, creations]);
  });

  test('keeps a revocation by one of eight storages that all record uses, and the last use', async ({ place }) => {
    const all = await openedAtOnce(place, 8);
    const [one, other] = all as [Ports, Ports];
    for (let round = 0; round < 10; round += 1) {
      const record = apiKey();
      await one.keys.add(record);
      const uses = all.map(async ({ keys }, index) => {
        for (let at = 1; at <= 10; at += 1) await keys.recordUse(record.id, 100 * index + at);
      });
      const revoked = await other.keys.revoke(record.id, 5);
      await Promise.all(uses);
      const found = await one.keys.find(record.digest);
      expectSame(found, { ...record, revokedAt: 5, lastUsedAt: found?.lastUsedAt });
      expect((found?.lastUsedAt ?? 0) % 100, 'the last of ten uses, by one of eight').toBe(10);
      expectSame(revoked, { ...record, revokedAt: 5, lastUsedAt: revoked?.lastUsedAt });
    }
  });
}
