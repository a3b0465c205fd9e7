import { type IdempotencyKey, LIMITS, type NewPet } from '@animal-store/domain';
import { expect } from 'vitest';
import { atOnce } from './calls.ts';
import { ALMOST_LONGEST_PETS, added, everyPage, idempotencyOf, LONGEST_PET, rex } from './samples.ts';
import type { StorageTest } from './storage-under-test.ts';

const holder = 'the zoo';
const LONGEST_KEY = 'k'.repeat(LIMITS.idempotencyKey.maxLength - 1);

/** As long as one can be, also in JSON. */
const LONGEST_HOLDER = '\u0001'.repeat(LIMITS.holder.maxLength);

/** Texts that have the same hash: that of Java, and CRC-32. So have those that begin and end with the same others. */
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
  ['a long name of the holder', { holder: 'z'.repeat(100), key: 'k' }, { holder: `${'z'.repeat(99)}Z`, key: 'k' }],
  ['names of members', { holder: '__proto__', key: 'constructor' }, { holder: 'constructor', key: '__proto__' }],
  ['an empty holder', { holder: '', key: '$where' }, { holder: '$where', key: 'k' }],
  ...['-', '_', ' ', 'null', 'undefined', '""'].map(
    (mark) => [`${mark} and an empty holder`, { holder: '', key: 'k' }, { holder: mark, key: 'k' }] as const,
  ),
];

/** Creating pets under idempotency keys. */
export function idempotencyContract(test: StorageTest): void {
  const max = rex({ name: 'Max' });

  test('returns null for the same key and another pet, and stores nothing', async ({ pets }) => {
    const first = await added(pets, LONGEST_PET, idempotencyOf(LONGEST_PET, 'k1'));
    for (const [member, different] of Object.entries({ ...ALMOST_LONGEST_PETS, all: max })) {
      expect(await pets.add(different, idempotencyOf(different, 'k1')), member).toBeNull();
    }
    expect(await everyPage(pets)).toEqual([first]);
    for (const names of COLLIDING) {
      const [one, other] = names.map((name) => rex({ name })) as [NewPet, NewPet];
      await added(pets, one, idempotencyOf(one, names[0]));
      expect(await pets.add(other, idempotencyOf(other, names[0])), `the pets ${names}`).toBeNull();
    }
    expect(await added(pets, LONGEST_PET, idempotencyOf(LONGEST_PET, 'k1'))).toEqual(first);
  });

  test('distinguishes keys and holders that differ in one character', async ({ pets }) => {
    const create = (key: IdempotencyKey) => added(pets, rex(), idempotencyOf(rex(), key));
    for (const [difference, one, other] of DIFFERENCES) {
      const [first, second] = [await create(one), await create(other)];
      expect(first.id, difference).not.toBe(second.id);
      expect(await Promise.all([create(one), create(other)]), difference).toEqual([first, second]);
    }
  });

  test('creates one pet for many calls at once with one key, and returns null to those with another pet', async ({
    pets,
  }) => {
    const creations = await atOnce(50, (index) => {
      const newPet = index % 2 === 0 ? rex() : max;
      return pets.add(newPet, idempotencyOf(newPet, 'k1'));
    });
    const [stored, ...others] = await everyPage(pets);
    expect(others).toEqual([]);
    expect(creations.flatMap((creation) => creation?.pet ?? [])).toEqual(Array(25).fill(stored));
    expect(creations.filter((creation) => creation?.created)).toHaveLength(1);
  });
}
