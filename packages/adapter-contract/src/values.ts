// Values: what the limits allow comes back code unit for code unit: a pet, a key with its holder, an API key, a stored pet.

import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, type NewPet } from '@animal-store/domain';
import { ALL_PETS, type StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import {
  added,
  apiKey,
  CREATED_AT,
  everyPage,
  expectSame,
  idempotencyKeys,
  idempotencyOf,
  inOrderOfIds,
  LARGEST,
  LONGEST_PET,
  MOVED,
  newPets,
  notoriousPets,
  petAt,
  rex,
  SELECTIONS,
  selected,
} from './samples.ts';
import { archiveTestOf, portsAt, type StorageUnderTest, testOf } from './storage-under-test.ts';

/** As long as they can be, also in JSON, but for the last character. */
const LONGEST_HOLDER = '\u0001'.repeat(LIMITS.holder.maxLength - 1);
const LONGEST_KEY = '"'.repeat(LIMITS.idempotencyKey.maxLength - 1);

/** Texts with the same hash, in Java and by CRC-32. It stays the same if equal texts are put before and behind them. */
const COLLIDING = [
  ['Aa', 'BB'],
  ['plumless', 'buckeroo'],
] as const;

type HolderAndKey = readonly [holder: string, key: string];

/** Differences between two holders with their keys. */
const DIFFERENCES: readonly (readonly [string, HolderAndKey, HolderAndKey])[] = [
  ['their order', ['a', 'b'], ['b', 'a']],
  ['a space', ['a b', 'c'], ['b c', 'a']],
  ...[...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', '::', '--', '||', '//', '__', '->'].map(
    (mark) => [mark, [`a${mark}b`, 'c'], ['a', `b${mark}c`]] as const,
  ),
  ['where one ends', ['a', 'bc'], ['ab', 'c']],
  ['where the other ends', ['bc', 'a'], ['c', 'ab']],
  ['the case of the holder', ['a', 'k'], ['A', 'k']],
  ['the case of the key', ['a', 'k'], ['a', 'K']],
  ['a leading space', ['a', 'k'], [' a', 'k']],
  ['a trailing space', ['a', 'k'], ['a ', 'k']],
  ['their Unicode form', ['é', 'k'], ['e\u0301', 'k']],
  ['letters that a collation takes for equal', ['ss', 'k'], ['ß', 'k']],
  ['an invisible character', ['a', 'k'], ['a\u200b', 'k']],
  ...COLLIDING.flatMap(([one, other]) => [
    [`a hash of 32 bits of the key ${one}`, ['the zoo', one], ['the zoo', other]] as const,
    [`a hash of 32 bits of the holder ${one}`, [one, 'k'], [other, 'k']] as const,
  ]),
  [
    'the last character of the longest key',
    [`${LONGEST_HOLDER}\u0001`, `${LONGEST_KEY}"`],
    [`${LONGEST_HOLDER}\u0001`, `${LONGEST_KEY}\\`],
  ],
  [
    'the last character of the longest holder',
    [`${LONGEST_HOLDER}z`, `${LONGEST_KEY}"`],
    [`${LONGEST_HOLDER}Z`, `${LONGEST_KEY}"`],
  ],
  ['names of members', ['__proto__', 'constructor'], ['constructor', '__proto__']],
  ['an empty holder', ['', '$where'], ['$where', 'k']],
  ...['-', '_', ' ', 'null', 'undefined', '""'].map(
    (mark) => [`${mark} and an empty holder`, ['', 'k'], [mark, 'k']] as const,
  ),
];

/** Differences between two pets. */
const DIFFERENT_PETS: readonly (readonly [string, NewPet, NewPet])[] = [
  ['the name', LONGEST_PET, { ...LONGEST_PET, name: LONGEST_PET.name.replace(/.$/, '\u0002') }],
  ['the category', LONGEST_PET, { ...LONGEST_PET, categoryId: LONGEST_PET.categoryId + 1n }],
  ['the status', LONGEST_PET, { ...LONGEST_PET, status: 'pending' }],
  ['no status', LONGEST_PET, rex({ ...LONGEST_PET, status: undefined })],
  ...COLLIDING.map(
    ([one, other]) => [`a hash of 32 bits of ${one}`, rex({ name: one }), rex({ name: other })] as const,
  ),
];

export function valuesContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = testOf(adapter);

  test('assigns an id from 1 to 2^53 - 1, and returns any pet as it was given, code unit for code unit', async ({
    pets,
  }) => {
    await fc.assert(
      fc.asyncProperty(newPets, async (newPet) => {
        const pet = await added(pets, newPet);
        expectSame(pet, { id: pet.id, ...newPet });
        expect(pet.id).toBeGreaterThanOrEqual(LIMITS.id.min);
        expect(pet.id).toBeLessThanOrEqual(LIMITS.id.maxAssigned);
        expectSame(await pets.find(pet.id), pet);
        expectSame(await pets.list({ ...ALL_PETS, after: pet.id - 1n, limit: 1 }), [pet]);
      }),
      {
        numRuns: 150,
        endOnFailure: true,
        includeErrorInReport: true,
        examples: notoriousPets.map((newPet) => [newPet]),
      },
    );
  });

  test('finds nothing for an id that was never assigned', async ({ pets }) => {
    const { id } = await added(pets);
    const odd = [id + 1n, id + 2n ** 32n, id + 2n ** 52n, id + LIMITS.id.maxAssigned + 1n, LIMITS.id.max];
    expectSame(
      await Promise.all(odd.map((each) => pets.find(each))),
      odd.map(() => null),
    );
  });

  test('returns null for the same key and another pet, and stores nothing', async ({ pets }) => {
    const stored: unknown[] = [];
    for (const [difference, one, other] of DIFFERENT_PETS) {
      const create = (pet: NewPet) => pets.add(pet, idempotencyOf(pet, `k${stored.length}`));
      const first = await create(one);
      expect(await create(other), difference).toBeNull();
      expectSame(await create(one), { pet: first?.pet, created: false }, difference);
      stored.push(first?.pet);
    }
    expectSame(await everyPage(pets), stored);
  });

  test('distinguishes keys and holders that differ in one character', async ({ pets }) => {
    const create = ([holder, key]: HolderAndKey) => added(pets, rex(), idempotencyOf(rex(), { holder, key }));
    for (const [difference, one, other] of DIFFERENCES) {
      const [first, second] = [await create(one), await create(other)];
      expect(first.id, difference).not.toBe(second.id);
      expectSame(await Promise.all([create(one), create(other)]), [first, second], difference);
    }
  });

  test('finds an API key by its digest exactly as it was given, as soon as it is added', async ({ keys }) => {
    const { min, max } = LIMITS.time;
    for (const record of [
      apiKey(),
      apiKey({ holder: 'the “other” zoo', expiresAt: 1_900_000_000_123 }),
      // The longest name, and the last time, that a key can be issued for.
      apiKey({ holder: `z${' '.repeat(98)}z`, expiresAt: Date.UTC(275_760, 0) - 1 }),
      apiKey({ createdAt: 0, revokedAt: 1, lastUsedAt: 2 }),
      apiKey({ expiresAt: 0, revokedAt: 0, lastUsedAt: 0 }),
      apiKey({ createdAt: min, expiresAt: max, revokedAt: max, lastUsedAt: min }),
    ]) {
      expect(await keys.find(record.digest)).toBeNull();
      await keys.add(record);
      expectSame(await keys.find(record.digest), record);
      // The id is the same: it is made of the first 16 digits.
      expect(await keys.find(record.id.padEnd(64, '0'))).toBeNull();
    }
  });
}

/** Those of an archive. */
export function archiveValuesContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = archiveTestOf(adapter);

  test('reads pets with the times of their creation', async ({ pets, archive }) => {
    const now = Date.now();
    await added(pets);
    await sleep(50);
    await added(pets);
    const times = (await archive.read(0n, MOVED)).map(({ createdAt }) => createdAt);
    for (const time of times) {
      expect(time).toSatisfy(Number.isInteger);
      // Of a server that may have another clock.
      expect(Math.abs(time - now), 'ms from the time of this process').toBeLessThan(60_000);
    }
    expect(
      times.filter((time) => time % 1_000 !== 0),
      `in milliseconds: ${times}`,
    ).not.toEqual([]);
  });

  test('restores any pets as they were, 1,000 in a call', async ({ pets, archive }) => {
    // A multiple of 2 to 8, 16, 32 and 64: an engine with so many partitions stores ids at this distance in one of them.
    const distance = 6_720;
    const largest = LARGEST.map(([pet, idempotency], index): StoredPet => {
      return { id: BigInt(distance * index + 1), ...pet, createdAt: CREATED_AT, idempotency };
    });
    const samples = fc.sample(fc.tuple(newPets, fc.option(idempotencyKeys)), 100);
    const any = [...notoriousPets.map((pet) => [pet, null] as const), ...samples];
    const others = any.map(([pet, key], index): StoredPet => {
      // An operator may have changed the pet since.
      const first = index % 2 === 0 ? pet : rex();
      const ownKey = `${index}${key?.key}`.slice(0, LIMITS.idempotencyKey.maxLength);
      const idempotency = key && idempotencyOf(first, { ...key, key: ownKey });
      // Some ids have 2 to 16 digits, and many are in other partitions, between the largest pets and behind them.
      const digits = 10n ** BigInt(index >> 1) - BigInt(index % 2);
      const id = index > 1 && index < 32 ? digits : BigInt(10 * distance * index + 2 + (index % 63));
      const createdAt = [LIMITS.time.max, LIMITS.time.min][index] ?? CREATED_AT - index;
      return { id, ...pet, createdAt, ...(idempotency && { idempotency }) };
    });
    await archive.restore(largest);
    await archive.restore(inOrderOfIds(others));
    const all = inOrderOfIds([...largest, ...others]);
    expectSame(await archive.read(0n, MOVED), all.slice(0, MOVED));
    expectSame(await archive.read(all[MOVED - 1]?.id as bigint, MOVED), all.slice(MOVED));
    const asPets = all.map(({ createdAt: _, idempotency: __, ...pet }) => pet);
    for (const filters of SELECTIONS) expectSame(await everyPage(pets, filters), selected(asPets, filters));
  });

  test('skips the ids up to one, and is never set back', async ({ place, pets, archive }) => {
    const skipped = LIMITS.id.maxAssigned - 10_000n;
    // As texts these would descend. A restore skips those before its last one, too, also if that is deleted.
    for (const [index, to] of [9n, 80n, 700n, 6_000n, 50_000n, 10n ** 12n, skipped].entries()) {
      if (index % 2 === 0) await archive.skipIds(to);
      else {
        await archive.restore([{ ...petAt(0), id: to }]);
        await adapter.operator?.deletePet?.(place, to);
      }
      expect(await archive.lastId()).toBeGreaterThanOrEqual(to);
    }
    await archive.skipIds(1n);
    for (const each of [pets, (await portsAt(adapter, place)).pets]) {
      const { id } = await added(each);
      expect(id).toBeGreaterThan(skipped);
      // Also if another storage has assigned it.
      expect(await archive.lastId()).toBeGreaterThanOrEqual(id);
    }
  });

  test('leaves out pets whose id or idempotency key is stored', async ({ pets, archive }) => {
    const max = rex({ name: 'Max' });
    const keyed = (id: number, key: string) => ({ ...petAt(id), idempotency: idempotencyOf(rex(), key) });
    const stored: StoredPet[] = [keyed(5, 'k1'), petAt(8), petAt(9)];
    await archive.restore(stored);
    await archive.restore([
      { ...petAt(5), ...max, idempotency: idempotencyOf(rex(), 'k2') },
      keyed(6, 'k1'),
      { ...petAt(8), ...max },
      // More with one key than an engine's planner takes for few.
      ...Array.from({ length: 300 }, (_, index) => keyed(9 + index, 'k3')),
    ]);
    expectSame(await archive.read(0n, MOVED), [...stored, keyed(10, 'k3')]);
    const creation = await pets.add(max, idempotencyOf(max, 'k2'));
    expect(creation, 'the creation under the key of a pet that was left out').toMatchObject({ pet: max });
  });
}
