import { setTimeout as sleep } from 'node:timers/promises';
import type { Pet } from '@animal-store/domain';
import type { PetRepository, Storage } from '@animal-store/domain/ports';
import { expect, vi } from 'vitest';
import { atOnce, expectUnavailable, failureOf } from './calls.ts';
import { type Interruption, RECOVERY_LIMIT, recovered } from './interruption.ts';
import { added, apiKey, everyKey, everyPage, idempotencyOf, rex } from './samples.ts';
import type { StorageUnderTest } from './storage-under-test.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/** Creations at once: more than a pool has connections. */
const CALLERS = 20;

/** A creation of its own for each index. Every other one has an idempotency key. */
function creation(index: number): Parameters<PetRepository['add']> {
  const newPet = rex({ name: `Rex ${index}`, status: 'sold' });
  return index % 2 === 0 ? [newPet, idempotencyOf(newPet, `k${index}`)] : [newPet];
}

/**
 * Expects that a storage which is interrupted amid creations works again, with all that it acknowledged.
 *
 * @param timing From 0. The outage begins after as many creations as its square (0: one that has ended), and then as many chunks on the network, or
 * milliseconds: so it meets each of the statements that creations share. An odd one ends the outage at once, an even one when all
 * callers have failed.
 */
export async function expectAllKept<Place>(
  { proxyOf }: StorageUnderTest<Place>,
  { place, storage, begin, end }: Interruption<Place>,
  timing: number,
): Promise<void> {
  const { pets } = storage;
  const isShort = timing % 2 === 1;
  const acknowledged: Pet[] = [];
  let sent = 0;
  let isOver = false;
  const { promise: enough, resolve } = Promise.withResolvers<void>();

  async function createUntilFailure(): Promise<void> {
    for (let failure = null; failure === null && !isOver; ) {
      const index = sent;
      sent += 1;
      failure = await failureOf(async () => acknowledged.push(await added(pets, ...creation(index))));
      if (failure !== null) expectUnavailable('pets.add', failure, storage);
      if (acknowledged.length >= timing ** 2) resolve();
    }
  }

  const creations = atOnce(CALLERS, createUntilFailure);
  const amid = enough.then(() => (proxyOf === undefined ? sleep(timing) : proxyOf(place).afterChunks(timing)));
  await Promise.race([creations, amid]);
  await begin();
  if (isShort) {
    await end();
    isOver = true;
  }
  await creations;
  await end();
  await recovered(storage);

  await expectWhole(storage, acknowledged, sent);
}

/**
 * Expects that creations which take too long begin no write once their calls have failed, and leave no half of a creation.
 *
 * @param delay How long each response is delayed, in milliseconds: a creation of several requests fails between two of them.
 */
export async function expectNoWriteAfterFailure<Place>(
  { storage }: Interruption<Place>,
  proxy: TcpProxy,
  delay: number,
): Promise<void> {
  const { pets, keys } = storage;
  const acknowledged: Pet[] = [];
  proxy.delayResponses(delay);
  await atOnce(CALLERS, async (index) => {
    const add = failureOf(async () => acknowledged.push(await added(pets, ...creation(index))));
    for (const failure of await Promise.all([add, failureOf(() => keys.add(apiKey()))]))
      if (failure !== null) expectUnavailable('add', failure, storage);
  });
  // The open connections stay: what was begun goes on.
  proxy.delayResponses(0);
  const stored = () => eventually(() => Promise.all([everyPage(pets), everyKey(keys)]));
  const before = await stored();
  // The last responses for which no call waits any more.
  await sleep(delay + 100);
  expect(await stored(), 'written after its call had failed').toEqual(before);
  proxy.pass();
  await recovered(storage);
  await expectWhole(storage, acknowledged, CALLERS);
}

/** A call may be the first one on a connection that an outage has left silent. */
const eventually = <Result>(call: () => Promise<Result>) => vi.waitFor(call, { timeout: RECOVERY_LIMIT });

/** Expects that every acknowledged pet is stored, and each creation once at most, with all that belongs to it. */
async function expectWhole({ pets }: Storage, acknowledged: readonly Pet[], sent: number): Promise<void> {
  for (const pet of acknowledged) expect(await eventually(() => pets.find(pet.id)), 'acknowledged').toStrictEqual(pet);
  const repeat = () => atOnce(Math.ceil(sent / 2), (half) => eventually(() => added(pets, ...creation(2 * half))));
  const repeated = await repeat();
  expect(await repeat(), 'repeated once more').toStrictEqual(repeated);
  const stored = await eventually(() => everyPage(pets));
  expect(await eventually(() => everyPage(pets, { status: 'sold' })), 'listed by status').toStrictEqual(stored);
  expect(stored, 'created with an idempotency key').toEqual(expect.arrayContaining(repeated));
  const names = stored.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  expect(twice, 'created twice').toEqual([]);
}
