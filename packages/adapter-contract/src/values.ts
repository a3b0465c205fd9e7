// Values: what the limits allow comes back code unit for code unit: a pet, a key with its holder, an API key, a stored pet.

import { setTimeout as sleep } from 'node:timers/promises';
import { type IdempotencyKey, LIMITS, type NewPet } from '@animal-store/domain';
import { ALL_PETS, type StoredPet } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import {
  ALMOST_LONGEST_PETS,
  added,
  apiKey,
  CREATED_AT,
  everyPage,
  expectSame,
  FARTHEST_TIME,
  FULL_PET,
  idempotencyKeys,
  idempotencyOf,
  LONGEST_NAME,
  LONGEST_PET,
  longestKeyOf,
  MOVED,
  newPets,
  notoriousPets,
  petAt,
  rex,
  SELECTIONS,
  selected,
} from './samples.ts';
import { archiveTestOf, portsAt, type StorageTest, type StorageUnderTest } from './storage-under-test.ts';

const holder = 'the zoo';
const HOLDER_BEGIN = 'z'.repeat(LIMITS.holder.maxLength - 1);
/** As long as they can be, also in JSON. */
const LONGEST_KEY = '"'.repeat(LIMITS.idempotencyKey.maxLength - 1);
const LONGEST_HOLDER = '\u0001'.repeat(LIMITS.holder.maxLength);

/** Texts with the same hash, in Java and by CRC-32. It stays the same if equal texts are put before and behind them. */
const COLLIDING = [
  ['Aa', 'BB'],
  ['plumless', 'buckeroo'],
] as const;

/** Differences between two keys with their holders. */
const DIFFERENCES: readonly (readonly [string, IdempotencyKey, IdempotencyKey])[] = [
  ['their order', { holder: 'a', key: 'b' }, { holder: 'b', key: 'a' }],
  ['a space', { holder: 'a b', key: 'c' }, { holder: 'b c', key: 'a' }],
  ...[...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', '::', '--', '||', '//', '__', '->'].map(
    (mark) => [mark, { holder: `a${mark}b`, key: 'c' }, { holder: 'a', key: `b${mark}c` }] as const,
  ),
  ['where one ends', { holder: 'a', key: 'bc' }, { holder: 'ab', key: 'c' }],
  ['where the other ends', { holder: 'bc', key: 'a' }, { holder: 'c', key: 'ab' }],
  ['the case of the holder', { holder: 'a', key: 'k' }, { holder: 'A', key: 'k' }],
  ['the case of the key', { holder: 'a', key: 'k' }, { holder: 'a', key: 'K' }],
  ['a leading space', { holder: 'a', key: 'k' }, { holder: ' a', key: 'k' }],
  ['a trailing space', { holder: 'a', key: 'k' }, { holder: 'a ', key: 'k' }],
  ['their Unicode form', { holder: 'é', key: 'k' }, { holder: 'e\u0301', key: 'k' }],
  ['letters that a collation takes for equal', { holder: 'ss', key: 'k' }, { holder: 'ß', key: 'k' }],
  ['an invisible character', { holder: 'a', key: 'k' }, { holder: 'a\u200b', key: 'k' }],
  ...COLLIDING.flatMap(
    ([one, other]) =>
      [
        [`a hash of 32 bits of ${one} and ${other}`, { holder, key: one }, { holder, key: other }],
        [`a hash of 32 bits of the holder ${one}`, { holder: one, key: 'k' }, { holder: other, key: 'k' }],
      ] as const,
  ),
  [
    'the last character beside the longest holder, as JSON',
    { holder: LONGEST_HOLDER, key: `${LONGEST_KEY}"` },
    { holder: LONGEST_HOLDER, key: `${LONGEST_KEY}\\` },
  ],
  ['the last character of the longest key', { holder, key: `${LONGEST_KEY}a` }, { holder, key: `${LONGEST_KEY}b` }],
  [
    'the last character of the longest holder',
    { holder: `${HOLDER_BEGIN}z`, key: 'k' },
    { holder: `${HOLDER_BEGIN}Z`, key: 'k' },
  ],
  ['names of members', { holder: '__proto__', key: 'constructor' }, { holder: 'constructor', key: '__proto__' }],
  ['an empty holder', { holder: '', key: '$where' }, { holder: '$where', key: 'k' }],
  ...['-', '_', ' ', 'null', 'undefined', '""'].map(
    (mark) => [`${mark} and an empty holder`, { holder: '', key: 'k' }, { holder: mark, key: 'k' }] as const,
  ),
];

/** A multiple of 2 to 8, 16, 32 and 64: an engine with so many partitions stores ids at this distance in one of them. */
const DISTANCE = 6_720;

/** The longest pets, more than an engine returns of one partition at once. A list that selects the last one reads all others. */
const longest = Array.from({ length: MOVED }, (_, index): StoredPet => {
  const pet = index === MOVED - 1 ? FULL_PET : { ...LONGEST_PET, name: LONGEST_NAME };
  const idempotency = idempotencyOf(pet, longestKeyOf(index));
  return { id: BigInt(DISTANCE * index + 1), ...pet, createdAt: CREATED_AT, idempotency };
});

export function valuesContract(test: StorageTest): void {
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
    // Calls at the same time may share a statement.
    const created = await Promise.all(notoriousPets.map((newPet) => added(pets, newPet)));
    expectSame(
      created,
      notoriousPets.map((newPet, index) => ({ id: created[index]?.id, ...newPet })),
    );
    expectSame(await Promise.all(created.map(({ id }) => pets.find(id))), created);
  });

  test('finds nothing for an id that was never assigned', async ({ pets }) => {
    const { id } = await added(pets);
    const odd = [id + 1n, id + 2n ** 32n, id + 2n ** 52n, LIMITS.id.maxAssigned + 1n + id, LIMITS.id.max];
    for (const each of odd) expect(await pets.find(each), `find(${each}n)`).toBeNull();
    expect(await Promise.all(odd.map((each) => pets.find(each)))).toEqual(odd.map(() => null));
  });

  test('returns null for the same key and another pet, and stores nothing', async ({ pets }) => {
    const first = await added(pets, LONGEST_PET, idempotencyOf(LONGEST_PET, 'k1'));
    for (const [member, different] of Object.entries({ ...ALMOST_LONGEST_PETS, all: rex({ name: 'Max' }) })) {
      expect(await pets.add(different, idempotencyOf(different, 'k1')), member).toBeNull();
    }
    expectSame(await everyPage(pets), [first]);
    for (const names of COLLIDING) {
      const [one, other] = names.map((name) => rex({ name })) as [NewPet, NewPet];
      await added(pets, one, idempotencyOf(one, names[0]));
      expect(await pets.add(other, idempotencyOf(other, names[0])), `the pets ${names}`).toBeNull();
    }
    expectSame(await added(pets, LONGEST_PET, idempotencyOf(LONGEST_PET, 'k1')), first);
  });

  test('distinguishes keys and holders that differ in one character', async ({ pets }) => {
    const create = (key: IdempotencyKey) => added(pets, rex(), idempotencyOf(rex(), key));
    for (const [difference, one, other] of DIFFERENCES) {
      const [first, second] = [await create(one), await create(other)];
      expect(first.id, difference).not.toBe(second.id);
      expectSame(await Promise.all([create(one), create(other)]), [first, second], difference);
    }
  });

  test('finds an API key by its digest exactly as it was given, as soon as it is added', async ({ keys }) => {
    for (const record of [
      apiKey(),
      apiKey({ holder: 'the “other” zoo', expiresAt: 1_900_000_000_123 }),
      // The longest name, and the last time, that a key can be issued for.
      apiKey({ holder: `z${' '.repeat(98)}z`, expiresAt: Date.UTC(275_760, 0) - 1 }),
      apiKey({ createdAt: 0, revokedAt: 1, lastUsedAt: 2 }),
      apiKey({ expiresAt: 0, revokedAt: 0, lastUsedAt: 0 }),
      apiKey({
        createdAt: -FARTHEST_TIME,
        expiresAt: FARTHEST_TIME,
        revokedAt: FARTHEST_TIME,
        lastUsedAt: -FARTHEST_TIME,
      }),
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

  test('reads pets with the idempotency keys and the times of their creation, page by page', async ({
    pets,
    archive,
  }) => {
    expect(await archive.read(0n, MOVED)).toEqual([]);
    const before = Date.now();
    const idempotency = idempotencyOf(rex(), { holder: '', key: 'k1' });
    const first = await added(pets, rex(), idempotency);
    await sleep(50);
    const second = await added(pets, FULL_PET);
    const [one, two] = await archive.read(0n, MOVED);
    expectSame(one, { ...first, createdAt: one?.createdAt, idempotency });
    expectSame(two, { ...second, createdAt: two?.createdAt });
    const times = [one?.createdAt ?? 0, two?.createdAt ?? 0];
    for (const time of times) {
      expect(Number.isInteger(time), `${time}`).toBe(true);
      // Of a server that may have another clock.
      expect(time).toBeGreaterThan(before - 60_000);
      expect(time).toBeLessThan(before + 60_000);
    }
    expect(times.filter((time) => time % 1_000 === 0).length, `whole seconds: ${times}`).toBeLessThan(2);
    expectSame(await archive.read(0n, 1), [one]);
    expectSame(await archive.read(first.id, 1), [two]);
    expect(await archive.read(second.id, 1)).toEqual([]);
    expectSame(await added(pets, rex(), idempotency), first);
    expectSame(await archive.read(0n, MOVED), [one, two], 'after a repetition');
  });

  test('restores any pets as they were, 1,000 in a call', async ({ pets, archive }) => {
    const samples = fc.sample(fc.tuple(newPets, fc.option(idempotencyKeys)), 100);
    const any = [...notoriousPets.map((pet) => [pet, null] as const), ...samples];
    const others = any.map(([pet, key], index): StoredPet => {
      // An operator may have changed the pet since.
      const first = index % 2 === 0 ? pet : rex();
      const ownKey = `${index}${key?.key}`.slice(0, LIMITS.idempotencyKey.maxLength);
      const idempotency = key && idempotencyOf(first, { ...key, key: ownKey });
      // In other partitions, between the longest pets and behind them.
      const id = BigInt(10 * DISTANCE * index + 2 + (index % 63));
      const time = [FARTHEST_TIME, -FARTHEST_TIME][index] ?? CREATED_AT - index;
      return { id, ...pet, createdAt: time, ...(idempotency && { idempotency }) };
    });
    await archive.restore(longest);
    await archive.restore(others);
    const all = [...longest, ...others].toSorted((one, other) => Number(one.id - other.id));
    expectSame(await archive.read(0n, MOVED), all.slice(0, MOVED));
    expectSame(await archive.read(all[MOVED - 1]?.id as bigint, MOVED), all.slice(MOVED));
    const asPets = all.map(({ createdAt: _, idempotency: __, ...pet }) => pet);
    for (const filters of SELECTIONS) expectSame(await everyPage(pets, filters), selected(asPets, filters));
  });

  test('lists restored pets in the order of their ids, whatever their number of digits', async ({ pets, archive }) => {
    const ids = Array.from({ length: 15 }, (_, digits) => [10n ** BigInt(digits + 1) - 1n, 10n ** BigInt(digits + 1)]);
    const stored = ids.flat().map((id, index) => ({ id, ...(index % 3 === 0 ? FULL_PET : rex()) }));
    await archive.restore(stored.map((pet) => ({ ...pet, createdAt: CREATED_AT })));
    for (const limit of [100, 7, 1]) {
      for (const filters of SELECTIONS)
        expectSame(await everyPage(pets, { ...filters, limit }), selected(stored, filters));
    }
    expect((await archive.read(0n, 100)).map(({ id }) => id)).toEqual(ids.flat());
  });

  test('skips the ids up to one, and is never set back', async ({ place, pets, archive }) => {
    expect(await archive.lastId()).toBe(0n);
    await archive.skipIds(0n);
    const { id } = await added(pets);
    expect(await archive.lastId()).toBeGreaterThanOrEqual(id);
    const skipped = LIMITS.id.maxAssigned - 10_000n;
    // As texts these would descend. A restore skips those before its last one, too, also if that is deleted.
    for (const [index, to] of [9n, 80n, 700n, 6_000n, 50_000n, 10n ** 12n, skipped].entries()) {
      if (index % 2 === 0) await archive.skipIds(to);
      else {
        await archive.restore([{ id: to, ...rex(), createdAt: CREATED_AT }]);
        await adapter.operator?.deletePet?.(place, to);
      }
      expect(await archive.lastId()).toBeGreaterThanOrEqual(to);
    }
    await archive.skipIds(id);
    expect(await archive.lastId()).toBeGreaterThanOrEqual(skipped);
    for (const each of [pets, (await portsAt(adapter, place)).pets]) {
      expect((await added(each)).id).toBeGreaterThan(skipped);
    }
    const last = (await everyPage(pets)).at(-1)?.id;
    expect(await archive.lastId()).toBeGreaterThanOrEqual(last ?? 0n);
  });

  test('leaves out pets whose id or idempotency key is stored', async ({ pets, archive }) => {
    const first: StoredPet = { id: 5n, ...rex(), createdAt: CREATED_AT, idempotency: idempotencyOf(rex(), 'k1') };
    const last: StoredPet = { id: 7n, ...rex(), createdAt: CREATED_AT };
    await archive.restore([first]);
    const left = { ...first, name: 'Max', idempotency: idempotencyOf(rex(), 'k2') };
    await archive.restore([left, { ...first, id: 6n }, last]);
    expectSame(await archive.read(0n, MOVED), [first, last]);
    await archive.restore([first, last]);
    await archive.restore([]);
    expectSame(await archive.read(0n, MOVED), [first, last]);
    // More than an engine's planner takes for few.
    const idempotency = idempotencyOf(rex(), 'k3');
    await archive.restore(Array.from({ length: 300 }, (_, index) => ({ ...petAt(7 + index), idempotency })));
    const ids = (await archive.read(0n, MOVED)).map(({ id }) => id);
    expect(ids, 'after a call that has a key for a stored id, and for 299 others').toEqual([5n, 7n, 8n]);
    const max = rex({ name: 'Max' });
    expect(await pets.add(max, idempotencyOf(max, 'k2')), 'the key of a pet that was left out').toMatchObject({
      created: true,
    });
  });
}
