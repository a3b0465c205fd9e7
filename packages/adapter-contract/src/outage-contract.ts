import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Storage, StorageMisconfigured } from '@animal-store/domain/ports';
import { describe, expect, test } from 'vitest';
import {
  allRight,
  atOnce,
  type Calls,
  expectMayPass,
  expectNoSecret,
  expectUnavailable,
  failureOf,
  patiently,
  rightOrUnavailable,
} from './calls.ts';
import { addEach, type Interruption, inEach, recovered } from './interruption.ts';
import { CLOSE_LIMIT, PATIENCE, RECOVERY_LIMIT } from './limits.ts';
import { createInAnotherProcess } from './other-process.ts';
import { everyCall, everyWrite, type PortCalls, readyOf } from './port-calls.ts';
import { added, apiKey, everyKey, everyPage, rex } from './samples.ts';
import { type Loss, type Outages, opened, type StorageUnderTest } from './storage-under-test.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/** How long a request may take to the proxy, in milliseconds. */
const IN_FLIGHT = 100;

/** What has not changed for so long changes no more, in milliseconds. */
const SETTLED = 1_000;

/** When a response comes, in milliseconds: later than the timeout of a driver, and sooner than the limit of a call. */
const LATE = 700;

/** Calls at once: more than a pool has connections. */
const CALLERS = 20;

/** The behaviour of a storage during its outages, and afterwards. */
export function outageContract<Place>(adapter: StorageUnderTest<Place>, outages: Outages<Place>): void {
  describe('in an outage', () => {
    test('ends every call within 2.5 seconds, is unavailable or finds all that exists, and closes within 5 seconds', () =>
      inEach(adapter, Object.entries(outages), async ({ place, storage, calls, begin }) => {
        // What this storage has read, another one changes.
        const reads = calls.reads(storage);
        for (const read of Object.values(reads)) await patiently(read);
        const other = await opened(adapter, place);
        await recovered(other, PATIENCE);
        await addEach(calls, other);
        const changes = calls.writes(other, 0);
        for (const name of ['keys.recordUse', 'keys.revoke'] as const) await patiently(changes[name]);
        await other.close();
        await begin();
        await expectOnlyReads(adapter, storage, calls, reads, 1);
        const inFlight = rightOrUnavailable(everyCall(storage, calls, 1), storage);
        expect(await failureOf(() => storage.close(), CLOSE_LIMIT)).toBeNull();
        await inFlight;
      }));

    const { inAnotherProcess } = adapter;
    if (inAnotherProcess !== undefined) {
      test('keeps another process alive until its creation has a result or is unavailable, and then lets it end', () =>
        inEach(adapter, Object.entries(outages), async ({ place, begin }) => {
          await begin();
          const end = await createInAnotherProcess(inAnotherProcess(place), 'Rex');
          expect(['Rex', 'storage_unavailable']).toContain(end);
        }));
    }
  });

  const { proxyOf } = adapter;
  if (proxyOf !== undefined) {
    test('begins no write once its call has failed between two responses, and leaves no half of a write', () => {
      // Calls of two to six requests fail between them.
      const delays = [480, 600, 850, 900, 1_000, 2_000];
      const each = delays.map((delay) => [`each response after ${delay} ms`, {}] as const);
      return inEach(adapter, each, (interruption, _, index) =>
        expectNoWriteAfterFailure(adapter, interruption, delays[index] as number),
      );
    });

    test('keeps what it acknowledged if requests of an earlier connection arrive later than those of the next', () =>
      inEach(adapter, [['late requests', {}]], async ({ place, storage }) => {
        const { pets, keys } = storage;
        const proxy = proxyOf(place);
        const record = apiKey();
        await patiently(() => keys.add(record));
        proxy.holdRequests();
        const calls = { use: () => keys.recordUse(record.id, 7), creation: () => added(pets, rex({ name: 'Max' })) };
        const { use } = await rightOrUnavailable(calls, storage);
        await patiently(() => keys.recordUse(record.id, 8));
        proxy.deliver();
        await sleep(300);
        const created = await patiently(() => everyPage(pets));
        expect(created.filter(({ name }) => name === 'Max').length, 'creations').toBeLessThan(2);
        const found = await patiently(() => keys.find(record.digest));
        // A call that has failed may be executed as soon as its request arrives.
        if (use === null) expect(found, 'replaced by an earlier use').toStrictEqual({ ...record, lastUsedAt: 8 });
      }));

    test('is right or unavailable in each call, and does no write twice, wherever its connection breaks', () => {
      const breaks = Array.from({ length: 4 }, () => ['a broken connection', {}] as const);
      return inEach(adapter, breaks, async (interruption, _, index) => {
        await interruption.begin();
        const proxy = proxyOf(interruption.place);
        const other = await opened(adapter, interruption.place);
        const breakAll = () => {
          proxy.cut();
          // New connections work at once: an adapter may be tempted to try again.
          proxy.pass();
        };
        const breakOne = (reset: () => void) => reset();
        for (let chunks = index + 1, isMet = true; isMet; chunks += breaks.length) {
          const known = 10 * chunks;
          isMet = await expectRightIfDisturbed(interruption, proxy, { chunks, known, other, disturb: breakAll });
          await expectRightIfDisturbed(interruption, proxy, { chunks, known: known + 5, disturb: breakOne });
        }
      });
    });

    test('is right or unavailable in each call, and does no write twice, whichever response comes later than others', () => {
      const delays = Array.from({ length: 8 }, () => ['a late response', {}] as const);
      return inEach(adapter, delays, async (interruption, _, index) => {
        await interruption.begin();
        const proxy = proxyOf(interruption.place);
        const delayOne = async (_: () => void, ended: Promise<unknown>) => {
          proxy.delayResponses(LATE);
          // A response, and a request: that of a driver which has waited for long enough gets its response next.
          await Promise.race([ended, proxy.afterChunks(2)]);
          proxy.delayResponses(0);
        };
        for (let chunks = index, isMet = true; isMet; chunks += delays.length)
          isMet = await expectRightIfDisturbed(interruption, proxy, {
            chunks,
            known: 10 * chunks + 10,
            disturb: delayOne,
          });
      });
    });
  }

  describe('after an outage', () => {
    test('works again, with all that it acknowledged, as does a storage that was opened meanwhile', () =>
      inEach(adapter, Object.entries(outages), async ({ place, storage, calls, begin, end }, { passes = false }) => {
        await begin();
        const opening = await opened(adapter, place);
        // More than a pool has connections; each failure could lose one.
        const many = Array.from({ length: 100 }, () => calls.writes(storage));
        const failures = await Promise.all([
          ...Object.values(everyWrite(storage, calls, 0)).map((write) => failureOf(write)),
          ...many.map((write) => failureOf(write['keys.add'])),
          ...[storage, opening].map(({ ready }) => failureOf(ready)),
        ]);
        for (const failure of failures) expectUnavailable('a call', failure, storage);
        if (passes) expectMayPass(failures);
        await end();
        for (const each of [storage, opening]) await recovered(each, RECOVERY_LIMIT, passes);
        // One after the other: fewer may fail slowly than a pool has connections.
        const tries = { left: 3 };
        for (const write of many) await allRight({ 'keys.add': write['keys.add'] }, tries);
        for (const each of [storage, opening]) await allRight(calls.reads(each));
        for (const [name, write] of Object.entries(calls.writes(storage))) await allRight({ [name]: write });
        for (const each of [storage, opening]) await calls.expectKept(each);
        const silentConnections = () => adapter.proxyOf?.(place).silentConnections() ?? 0;
        await expect.poll(silentConnections, { timeout: RECOVERY_LIMIT, message: 'replaced, but not closed' }).toBe(0);
      }));

    test('keeps all that it acknowledged, one pet for each idempotency key, through long and short outages', async () => {
      for (const outage of Object.entries(outages)) {
        // All at once, which takes a pool of connections for each.
        const timings = Array.from({ length: 8 }, () => outage);
        await inEach(adapter, timings, (interruption, _, timing) => expectAllKept(adapter, interruption, timing));
      }
    });
  });
}

/** The behaviour of an open storage while its place is lost, and afterwards. */
export function lossContract<Place>(
  adapter: StorageUnderTest<Place>,
  losses: Readonly<Record<string, Loss<Place>>>,
): void {
  const { proxyOf } = adapter;
  const breaks = proxyOf === undefined ? [false] : [false, true];
  const each = breaks.flatMap((breaksConnections) =>
    Object.entries(losses).map(([name, loss]) => [name, { ...loss, breaksConnections }] as const),
  );
  test('notices that its place was lost while it runs, and works again once it is back', () =>
    inEach(adapter, each, async ({ place, storage, calls, begin, end }, { line, breaksConnections }) => {
      await begin();
      // Then a new connection is the first to meet the loss.
      if (breaksConnections) proxyOf?.(place).pass();
      // Creations may be acknowledged until the storage has looked.
      expectUnavailable('ready', await failureOf(() => storage.ready()), storage);
      const readLine = async () => {
        const cause = await causeOf(storage);
        return StorageMisconfigured.is(cause) ? cause.message : `no StorageMisconfigured, but ${cause}`;
      };
      const expectLine = async () =>
        line && (await expect.poll(readLine, { timeout: RECOVERY_LIMIT, message: 'what is wrong' }).toMatch(line));
      await expectLine();
      const expectReads = () => expectOnlyReads(adapter, storage, calls, calls.reads(storage), 0);
      await expectReads();
      proxyOf?.(place).pass();
      await expectReads();
      // The calls before may have found their connections closed.
      await expectReads();
      // A new connection has made nothing there.
      await expectLine();
      await end();
      await recovered(storage);
      const stored = () => patiently(() => Promise.all([everyPage(storage.pets), everyKey(storage.keys)]));
      expect(
        (await stored()).map(({ length }) => length),
        'pets and keys',
      ).toEqual([2, 1]);
      await addEach(calls, storage);
      await calls.expectKept(storage);
    }));
}

/** What the operator reads of a storage that is not ready. */
async function causeOf(storage: Storage): Promise<unknown> {
  return (await failureOf(() => storage.ready()))?.cause;
}

/**
 * Expects that each call is unavailable, or a read that is right.
 *
 * @param known The index of an API key that was added.
 */
async function expectOnlyReads<Place>(
  { secrets }: StorageUnderTest<Place>,
  storage: Storage,
  calls: PortCalls,
  reads: Calls,
  known: number,
): Promise<void> {
  // Several times each: calls may wait for each other.
  await atOnce(10, async () => {
    const writes = everyWrite(storage, calls, known);
    const all = { ...calls.reads(storage), ...reads, ...writes, ...readyOf(storage) };
    for (const [name, failure] of Object.entries(await rightOrUnavailable(all, storage))) {
      if (name in writes || name === 'ready') expectUnavailable(name, failure, storage);
      expectNoSecret(secrets, failure);
    }
  });
  // A call that waits for others may have none.
  const message = 'the cause of `storage_unavailable`, for the operator';
  await expect.poll(() => causeOf(storage), { timeout: RECOVERY_LIMIT, message }).toBeInstanceOf(Error);
}

/** What happens to a call, and after how many chunks. */
interface Disturbance {
  readonly chunks: number;
  /** The index of two API keys that are added for it. */
  readonly known: number;
  /** Another storage at the place, which creates a pet in the same moment: each may take the other's work for its own. */
  readonly other?: Storage;
  /** @param reset Resets the connection on which the last chunk passed. */
  disturb(reset: () => void, ended: Promise<unknown>): void | Promise<void>;
}

/**
 * Expects of each call that is disturbed that it is right or unavailable, and that nothing is written twice.
 *
 * @returns Whether a call was met: it had not ended after so many chunks.
 */
async function expectRightIfDisturbed<Place>(
  { storage, calls }: Interruption<Place>,
  proxy: TcpProxy,
  { chunks, known, other, disturb }: Disturbance,
): Promise<boolean> {
  let isMet = false;
  for (const index of [known, known + 1]) await patiently(calls.writes(storage, index)['keys.add']);
  const revoked = calls.writes(storage, known);
  for (const name of ['keys.recordUse', 'keys.revoke'] as const) await patiently(revoked[name]);
  const steps: Calls[] = Object.entries(everyCall(storage, calls, known + 1)).map(([name, call]) => ({ [name]: call }));
  const create = (caller: Storage) => calls.writes(caller)['pets.add with an idempotency key'];
  if (other) steps.push({ 'pets.add by one': create(storage), 'pets.add by the other': create(other) });
  for (const step of steps) {
    for (const each of other ? [storage, other] : [storage]) await recovered(each);
    // At once, so that a pool has several open connections.
    await Promise.all(Object.values(calls.reads(storage)).map((call) => patiently(call)));
    const amid = proxy.afterChunks(chunks);
    const named = Object.entries(step).map(([name, call]) => [`after ${chunks} chunks: ${name}`, call] as const);
    const ended = rightOrUnavailable(Object.fromEntries(named), storage);
    const reset = await Promise.race([ended.then(() => null), amid]);
    isMet ||= reset !== null;
    await disturb(reset ?? (() => {}), ended);
    await ended;
  }
  await recovered(storage);
  await calls.expectKept(storage);
  return isMet;
}

/**
 * Expects that writes which take too long begin nothing once their calls have failed, and leave no half.
 *
 * @param delay How long each response is delayed, in milliseconds: a write of several requests fails between two of them.
 */
async function expectNoWriteAfterFailure<Place>(
  adapter: StorageUnderTest<Place>,
  { place, storage, calls }: Interruption<Place>,
  delay: number,
): Promise<void> {
  const proxy = adapter.proxyOf?.(place) as TcpProxy;
  await atOnce(CALLERS, (known) => patiently(calls.writes(storage, known)['keys.add']));
  proxy.delayResponses(delay);
  await atOnce(CALLERS, (known) => rightOrUnavailable(everyWrite(storage, calls, known), storage));
  // What was sent at the last moment is executed.
  await sleep(IN_FLIGHT);
  // What is sent now waits. The open connections stay: what was begun goes on.
  proxy.holdRequests();
  proxy.delayResponses(0);
  const other = await opened(adapter, place);
  /** It writes nothing: that could wait for the locks of what was begun. */
  async function settled(tries?: { left: number }) {
    const stored = () => patiently(() => Promise.all([everyPage(other.pets), everyKey(other.keys)]), tries);
    for (let before = await stored(); ; ) {
      await sleep(SETTLED);
      const after = await stored();
      if (isDeepStrictEqual(after, before)) return after;
      before = after;
    }
  }
  // The last responses for which no call waits any more.
  await sleep(delay);
  // In some engines reads wait for these locks, too.
  const before = await settled({ left: 3 }).catch(() => null);
  proxy.deliver();
  const after = await settled();
  if (before !== null) expect(after, 'written after its call had failed').toEqual(before);
  proxy.pass();
  await recovered(storage);
  await calls.expectKept(storage);
}

/**
 * Expects that a storage which is interrupted amid writes works again, with all that it acknowledged.
 *
 * @param timing From 0. The outage begins after as many writes as its square (0: one that has ended), and then as many chunks on
 * the network, or milliseconds: so it meets each of the statements that writes share. An odd one ends the outage at once, an even
 * one when all callers have failed.
 */
async function expectAllKept<Place>(
  { proxyOf }: StorageUnderTest<Place>,
  { place, storage, calls, begin, end }: Interruption<Place>,
  timing: number,
): Promise<void> {
  let acknowledged = 0;
  let isOver = false;
  const { promise: enough, resolve } = Promise.withResolvers<void>();

  async function writeUntilFailure(caller: number): Promise<void> {
    const port = caller % 2 === 0 ? 'pets' : 'keys';
    const writes = Object.entries(calls.writes(storage)).filter(([name]) => name.startsWith(port));
    for (const [name, write] of writes) {
      const failure = await failureOf(write);
      if (failure !== null) return expectUnavailable(name, failure, storage);
      acknowledged += 1;
      if (acknowledged >= timing ** 2) resolve();
    }
    if (!isOver) await writeUntilFailure(caller);
  }

  const writes = atOnce(CALLERS, writeUntilFailure);
  const amid = enough.then(
    (): Promise<unknown> => (proxyOf === undefined ? sleep(timing) : proxyOf(place).afterChunks(timing)),
  );
  await Promise.race([writes, amid]);
  await begin();
  if (timing % 2 === 1) {
    await end();
    isOver = true;
  }
  await writes;
  await end();
  await recovered(storage);
  await calls.expectKept(storage);
}
