import { LIMITS, PET_STATUSES, type Pet, type PetStatus } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OpenStorage, storageForTest } from './open-storage.ts';
import { additionOf, animal, animals, asStored, idempotencyKeys, maybeStatuses } from './samples.ts';

const BEYOND_EVERY_ID = 2n ** 63n - 1n;
const holder = 'the zoo';

/** Every page of a selection, one after the other. */
async function follow(pets: PetStore, limit: number, status?: PetStatus, between = async () => {}): Promise<Pet[]> {
  const seen: Pet[] = [];
  for (let after = 0n; ; ) {
    const page = await pets.list({ status, after, limit });
    expect(page.length).toBeLessThanOrEqual(limit);
    seen.push(...page);
    if (page.length < limit) return seen;
    after = (page.at(-1) as Pet).id;
    await between();
  }
}

const everything = (pets: PetStore) => follow(pets, 100);

/** What any store of animals must do. */
export function petStoreContract(open: OpenStorage): void {
  const petStore = async () => (await storageForTest(open)).pets;

  describe('adding and finding', () => {
    test('an added animal has an id above 0 and below 2^53, and is found as it was given', async () => {
      const pets = await petStore();
      const added = await pets.add(animal({ name: '  Rex\u0000 the 🐕 ', categoryId: -7n, status: 'pending' }));
      expect(added).toEqual({ id: added?.id, name: '  Rex\u0000 the 🐕 ', categoryId: -7n, status: 'pending' });
      expect(added?.id).toBeGreaterThan(0n);
      expect(added?.id).toBeLessThan(2n ** 53n);
      expect(await pets.find((added as Pet).id)).toEqual(added);
    });

    test.each([LIMITS.categoryId.min, LIMITS.categoryId.max, 0n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 53n + 1n])(
      'the category %d comes back digit for digit',
      async (categoryId) => {
        const pets = await petStore();
        const added = (await pets.add(animal({ categoryId }))) as Pet;
        expect(added.categoryId).toBe(categoryId);
        expect((await pets.find(added.id))?.categoryId).toBe(categoryId);
        expect((await pets.list({ after: 0n, limit: 1 }))[0]?.categoryId).toBe(categoryId);
      },
    );

    test.each(PET_STATUSES)('the status %s is kept', async (status) => {
      const pets = await petStore();
      const added = (await pets.add(animal({ status }))) as Pet;
      expect((await pets.find(added.id))?.status).toBe(status);
    });

    test('a status that was not given is absent wherever the animal is seen', async () => {
      const pets = await petStore();
      const added = (await pets.add(animal())) as Pet;
      const [listed] = await pets.list({ after: 0n, limit: 1 });
      for (const seen of [added, await pets.find(added.id), listed]) {
        expect(Object.keys(seen as Pet).sort()).toEqual(['categoryId', 'id', 'name']);
      }
    });

    test('any animal comes back from add, find and list exactly as it was given', async () => {
      const pets = await petStore();
      await fc.assert(
        fc.asyncProperty(animals, async (newPet) => {
          const added = (await pets.add(newPet)) as Pet;
          expect(added).toStrictEqual(asStored(newPet, added.id));
          expect(await pets.find(added.id)).toStrictEqual(added);
          expect(await pets.list({ after: added.id - 1n, limit: 1 })).toStrictEqual([added]);
        }),
        { numRuns: 100 },
      );
    });

    test.each(['\u0000', '\u0000Rex', 'Rex\u0000', ' \u0000 '])(
      'the name %j comes back as it was given',
      async (name) => {
        const pets = await petStore();
        const added = (await pets.add(animal({ name }))) as Pet;
        expect((await pets.find(added.id))?.name).toBe(name);
      },
    );

    test('an id that was never assigned finds nothing, however odd', async () => {
      const pets = await petStore();
      const added = (await pets.add(animal())) as Pet;
      for (const id of [0n, -1n, -added.id, added.id + 2n ** 52n, 2n ** 53n + added.id, BEYOND_EVERY_ID]) {
        expect(await pets.find(id), String(id)).toBeNull();
      }
      // Nor one that is the same as an assigned one in its lower 64 bits.
      expect(await pets.find(added.id + 2n ** 64n)).toBeNull();
      expect(await pets.find(added.id - 2n ** 64n)).toBeNull();
    });

    test('ids ascend from one addition to the next', async () => {
      const pets = await petStore();
      let last = 0n;
      for (let count = 0; count < 50; count += 1) {
        const { id } = (await pets.add(animal())) as Pet;
        expect(id).toBeGreaterThan(last);
        last = id;
      }
    });

    test('250 animals added at once get 250 ids, and each is there when its own addition is acknowledged', async () => {
      const pets = await petStore();
      const added = await Promise.all(
        Array.from({ length: 250 }, async (_, index) => {
          const pet = (await pets.add(animal({ name: `Rex ${index}` }))) as Pet;
          expect(await pets.find(pet.id)).toEqual(pet);
          expect(await pets.list({ after: pet.id - 1n, limit: 1 })).toEqual([pet]);
          return pet;
        }),
      );
      expect(new Set(added.map(({ id }) => id)).size).toBe(250);
      expect((await everything(pets)).map(({ name }) => name).sort()).toEqual(added.map(({ name }) => name).sort());
    });

    test('a stored animal does not change with the objects that were passed in or out', async () => {
      const pets = await petStore();
      const given = animal({ name: 'Rex', status: 'available' });
      const added = (await pets.add(given)) as Pet;
      Object.assign(given, { name: 'Max' });
      for (const handedOut of [added, await pets.find(added.id), ...(await pets.list({ after: 0n, limit: 1 }))]) {
        // Whether it throws or succeeds is the adapter's choice.
        Reflect.set(handedOut as Pet, 'name', 'Max');
      }
      expect(await pets.find(added.id)).toMatchObject({ name: 'Rex', status: 'available' });
    });
  });

  describe('listing', () => {
    test('an empty store lists nothing', async () => {
      const pets = await petStore();
      expect(await pets.list({ after: 0n, limit: 20 })).toEqual([]);
      expect(await pets.list({ after: 0n, limit: 20, status: 'sold' })).toEqual([]);
    });

    test('a page begins behind the id it is asked to follow, and holds no more than its limit', async () => {
      const pets = await petStore();
      const ids: bigint[] = [];
      for (let count = 0; count < 5; count += 1) ids.push(((await pets.add(animal())) as Pet).id);
      const page = async (after: bigint, limit: number) => (await pets.list({ after, limit })).map(({ id }) => id);
      expect(await page(0n, 2)).toEqual(ids.slice(0, 2));
      expect(await page(ids[1] as bigint, 2)).toEqual(ids.slice(2, 4));
      expect(await page(ids[3] as bigint, 101)).toEqual(ids.slice(4));
      expect(await page(ids[4] as bigint, 1)).toEqual([]);
      expect(await page(BEYOND_EVERY_ID, 1)).toEqual([]);
    });

    test('a status selects the animals that have it; those without one are only in the list of all', async () => {
      const pets = await petStore();
      const names = ['available', 'none', 'sold', 'available', 'pending', 'none', 'sold'];
      for (const name of names) {
        await pets.add(animal({ name, status: name === 'none' ? undefined : (name as PetStatus) }));
      }
      const listed = async (status?: PetStatus) =>
        (await pets.list({ status, after: 0n, limit: 100 })).map(({ name }) => name);
      expect(await listed()).toEqual(names);
      for (const status of PET_STATUSES) expect(await listed(status)).toEqual(names.filter((name) => name === status));
    });

    test('any additions, any limit, any filter: following the pages gives exactly the matching animals in order', async () => {
      const pets = await petStore();
      const stored: Pet[] = [];
      await fc.assert(
        fc.asyncProperty(
          fc.array(animals, { maxLength: 12 }),
          fc.integer({ min: 1, max: 101 }),
          maybeStatuses,
          async (newPets, limit, status) => {
            for (const newPet of newPets) stored.push((await pets.add(newPet)) as Pet);
            const matching = stored.filter((pet) => status === undefined || pet.status === status);
            expect(await follow(pets, limit, status)).toStrictEqual(matching);
          },
        ),
        { numRuns: 25 },
      );
    });

    test('following the pages while others add gives every animal that existed at the start exactly once', async () => {
      const pets = await petStore();
      const first = await Promise.all(Array.from({ length: 60 }, () => pets.add(animal({ status: 'available' }))));
      const atStart = first.map((pet) => (pet as Pet).id).sort((a, b) => Number(a - b));
      for (const status of [undefined, 'available'] as const) {
        const seen = await follow(pets, 7, status, async () => {
          // Only so many that the pages end.
          await Promise.all(Array.from({ length: 3 }, () => pets.add(animal({ status: 'available' }))));
        });
        const ids = seen.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter((id) => atStart.includes(id))).toEqual(atStart);
      }
    });
  });

  describe('adding with an idempotency key', () => {
    test('the same key and the same animal: one animal, returned each time', async () => {
      const pets = await petStore();
      const addition = additionOf(animal(), { holder, key: 'k1' });
      const first = (await pets.add(animal(), addition)) as Pet;
      await pets.add(animal());
      expect(await pets.add(animal(), addition)).toStrictEqual(first);
      expect(await pets.find(first.id)).toStrictEqual(first);
      expect(await everything(pets)).toHaveLength(2);
    });

    test('the same key and another animal: null, and nothing is stored', async () => {
      const pets = await petStore();
      const first = await pets.add(animal(), additionOf(animal(), { holder, key: 'k1' }));
      const other = animal({ name: 'Max' });
      expect(await pets.add(other, additionOf(other, { holder, key: 'k1' }))).toBeNull();
      expect(await everything(pets)).toEqual([first]);
      expect(await pets.add(animal(), additionOf(animal(), { holder, key: 'k1' }))).toEqual(first);
    });

    test('a holder does not meet the keys of another, whatever characters their names have', async () => {
      const pets = await petStore();
      const names = [
        { holder: 'a', key: 'b' },
        { holder: 'b', key: 'a' },
        { holder: 'a b', key: 'c' },
        { holder: 'b c', key: 'a' },
        { holder: 'a:b', key: 'c' },
        { holder: 'a', key: 'b:c' },
        { holder: 'a', key: 'bc' },
        { holder: 'ab', key: 'c' },
        { holder: 'b', key: 'ca' },
        { holder: 'A', key: 'b' },
        { holder: 'a', key: 'B' },
        { holder: '__proto__', key: 'constructor' },
        { holder: '', key: '$where' },
      ];
      const ids = new Set<bigint>();
      for (const name of names) ids.add(((await pets.add(animal(), additionOf(animal(), name))) as Pet).id);
      expect(ids.size).toBe(names.length);
    });

    test('fifty at once with one key: one animal, and all are told its id', async () => {
      const pets = await petStore();
      const addition = additionOf(animal(), { holder, key: 'k1' });
      const added = await Promise.all(Array.from({ length: 50 }, () => pets.add(animal(), addition)));
      expect(new Set(added.map((pet) => (pet as Pet).id)).size).toBe(1);
      expect(await everything(pets)).toEqual([added[0]]);
    });

    test('at once with one key for two animals: one of them is stored, the other is told no each time', async () => {
      const pets = await petStore();
      const added = await Promise.all(
        Array.from({ length: 40 }, (_, index) => {
          const newPet = animal({ name: index % 2 === 0 ? 'Rex' : 'Max' });
          return pets.add(newPet, additionOf(newPet, { holder, key: 'k1' }));
        }),
      );
      const [stored, ...none] = await everything(pets);
      expect(none).toEqual([]);
      expect(added.filter((pet) => pet !== null)).toEqual(Array(20).fill(stored));
    });

    test('any mix of keys, repeated in any order and at once: one animal a key', async () => {
      const pets = await petStore();
      const known = new Map<string, Pet>();
      await fc.assert(
        fc.asyncProperty(
          fc.array(idempotencyKeys, { minLength: 1, maxLength: 6 }),
          fc.integer(),
          async (keys, turn) => {
            const calls = [...keys, ...keys, ...keys].map(
              (_, index, all) => all[(index + Math.abs(turn)) % all.length],
            );
            await Promise.all(
              (calls as string[]).map(async (key) => {
                const newPet = animal({ name: `the animal of ${key.slice(0, 20)}` });
                const pet = (await pets.add(newPet, additionOf(newPet, { holder, key }))) as Pet;
                expect(known.get(key) ?? pet).toStrictEqual(pet);
                known.set(key, pet);
              }),
            );
          },
        ),
        { numRuns: 25 },
      );
      expect(new Set([...known.values()].map(({ id }) => id)).size).toBe(known.size);
      expect(await everything(pets)).toHaveLength(known.size);
    });
  });
}
