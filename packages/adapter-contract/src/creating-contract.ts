import { DomainError, LIMITS, type NewPet, PET_STATUSES, type Pet } from '@animal-store/domain';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { added, everyPage, idempotencyOf, LONGEST_NAME, newPets, rex } from './samples.ts';
import { emptyStorage, type StorageUnderTest } from './storage-under-test.ts';

const { min: SMALLEST, max: LARGEST } = LIMITS.categoryId;

/** Creating pets and reading them by their ids. */
export function creatingContract<Place>(adapter: StorageUnderTest<Place>): void {
  const petStore = async () => (await emptyStorage(adapter)).pets;

  describe('creating and reading', () => {
    test('assigns an id from 1 to 2^53 - 1, and finds the pet as it was given', async () => {
      const pets = await petStore();
      const pet = await added(pets, rex({ name: '  Rex\u0000 the 🐕 ', categoryId: -7n, status: 'pending' }));
      expect(pet).toStrictEqual({ id: pet.id, name: '  Rex\u0000 the 🐕 ', categoryId: -7n, status: 'pending' });
      expect(pet.id).toBeGreaterThanOrEqual(1n);
      expect(pet.id).toBeLessThan(2n ** 53n);
      expect(await pets.find(pet.id)).toStrictEqual(pet);
    });

    test('returns every digit of a category', async () => {
      const pets = await petStore();
      for (const categoryId of [SMALLEST, LARGEST, 0n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 53n + 1n]) {
        const pet = await added(pets, rex({ categoryId }));
        expect(pet.categoryId).toBe(categoryId);
        expect((await pets.find(pet.id))?.categoryId).toBe(categoryId);
        expect((await pets.list({ after: pet.id - 1n, limit: 1 }))[0]?.categoryId).toBe(categoryId);
      }
    });

    test('returns each status', async () => {
      const pets = await petStore();
      for (const status of PET_STATUSES) {
        const pet = await added(pets, rex({ status }));
        expect((await pets.find(pet.id))?.status).toBe(status);
      }
    });

    test('leaves out a status that was not given, wherever the pet is read', async () => {
      const pets = await petStore();
      const pet = await added(pets);
      const [listed] = await pets.list({ after: 0n, limit: 1 });
      for (const read of [pet, await pets.find(pet.id), listed]) {
        expect(Object.keys(read as Pet).sort()).toEqual(['categoryId', 'id', 'name']);
      }
    });

    test('returns any pet as it was given, code unit for code unit', async () => {
      const pets = await petStore();
      await fc.assert(
        fc.asyncProperty(newPets, async (newPet) => {
          const pet = await added(pets, newPet);
          expect(pet).toStrictEqual({ id: pet.id, ...newPet });
          expect(await pets.find(pet.id)).toStrictEqual(pet);
          expect(await pets.list({ after: pet.id - 1n, limit: 1 })).toStrictEqual([pet]);
        }),
        { numRuns: 150, endOnFailure: true },
      );
    });

    test('returns a name unchanged with NUL, outer spaces or any Unicode form, of any length', async () => {
      const pets = await petStore();
      const longest = 'x'.repeat(LIMITS.name.maxLength);
      for (const name of [
        '\u0000',
        '\u0000Rex',
        'Rex\u0000',
        ' \u0000 ',
        ' Rex ',
        'e\u0301',
        'é',
        longest,
        LONGEST_NAME,
      ]) {
        const pet = await added(pets, rex({ name }));
        expect(pet.name).toBe(name);
        expect((await pets.find(pet.id))?.name).toBe(name);
      }
    });

    test('finds nothing for an id that was never assigned', async () => {
      const pets = await petStore();
      const { id } = await added(pets);
      for (const odd of [id + 1n, id + 2n ** 52n, 2n ** 53n + id, LIMITS.id.max]) {
        expect(await pets.find(odd), String(odd)).toBeNull();
      }
    });

    test('assigns ascending ids to pets created one after the other', async () => {
      const pets = await petStore();
      let last = 0n;
      for (let count = 0; count < 50; count += 1) {
        const { id } = await added(pets);
        expect(id).toBeGreaterThan(last);
        last = id;
      }
    });

    test('assigns every id above those of all pets that were acknowledged when the call began', async () => {
      const pets = await petStore();
      let highest = 0n;
      const createMany = async () => {
        for (let count = 0; count < 25; count += 1) {
          const acknowledged = highest;
          const { id } = await added(pets);
          expect(id).toBeGreaterThan(acknowledged);
          if (id > highest) highest = id;
        }
      };
      // More than a pool has connections: each could assign ids of its own.
      await Promise.all(Array.from({ length: 40 }, createMany));
      // After the burst, too, when fewer connections are used.
      await createMany();
    });

    test('assigns 250 ids to 250 pets created at once, and shows each as soon as it is acknowledged', async () => {
      const pets = await petStore();
      const created = await Promise.all(
        Array.from({ length: 250 }, async (_, index) => {
          const pet = await added(pets, rex({ name: `Rex ${index}` }));
          expect(await pets.find(pet.id)).toEqual(pet);
          expect(await pets.list({ after: pet.id - 1n, limit: 1 })).toEqual([pet]);
          return pet;
        }),
      );
      expect(new Set(created.map(({ id }) => id)).size).toBe(250);
      expect((await everyPage(pets)).map(({ name }) => name).sort()).toEqual(created.map(({ name }) => name).sort());
    });

    test('serves a thousand calls at once, of each kind', async () => {
      const pets = await petStore();
      const thousand = <Result>(call: () => Result) => Promise.all(Array.from({ length: 1_000 }, call));
      const pet = await added(pets);
      for (const found of await thousand(() => pets.find(pet.id))) expect(found).toStrictEqual(pet);
      for (const page of await thousand(() => pets.list({ after: 0n, limit: 1 }))) expect(page).toStrictEqual([pet]);
      expect(new Set((await thousand(() => added(pets))).map(({ id }) => id)).size).toBe(1_000);
    });

    test('shows a pet to every read that begins after its acknowledgement, whatever reads are in flight', async () => {
      const pets = await petStore();
      const inFlight: unknown[] = [];
      const everything = { after: 0n, limit: 1_000 };
      for (let count = 0; count < 50; count += 1) {
        // The same reads as below: an adapter could share their results.
        inFlight.push(pets.find(BigInt(count + 1)), pets.list(everything));
        const pet = await added(pets);
        inFlight.push(pets.find(pet.id + 1n), pets.list(everything));
        const [found, page] = await Promise.all([pets.find(pet.id), pets.list(everything)]);
        expect(found).toStrictEqual(pet);
        expect(page.at(-1)).toStrictEqual(pet);
      }
      await Promise.all(inFlight);
    });

    test('stores what it was given when it was called, whatever happens to the argument afterwards', async () => {
      const pets = await petStore();
      const call = (index: number) => {
        const newPet = rex({ name: `Rex ${index}`, status: 'available' });
        const create = { ...idempotencyOf(newPet, { holder: 'the zoo', key: `k${index}` }) };
        const creating = [added(pets, newPet), added(pets, newPet, create)];
        Object.assign(newPet, { name: 'Max', categoryId: 1n, status: 'sold' });
        Object.assign(create, { holder: 'another zoo', key: 'k', fingerprint: 'another' });
        return creating;
      };
      // Many at once, so that some have to wait.
      const created = await Promise.all(Array.from({ length: 30 }, (_, index) => call(index)).flat());
      expect(created.map((pet) => pet.name)).toEqual(created.map((_, index) => `Rex ${Math.floor(index / 2)}`));
      for (const pet of created) {
        expect(pet).toMatchObject({ categoryId: 7n, status: 'available' });
        expect(await pets.find(pet.id)).toEqual(pet);
      }
      const again = rex({ name: 'Rex 3', status: 'available' });
      expect(await added(pets, again, idempotencyOf(again, { holder: 'the zoo', key: 'k3' }))).toEqual(created[7]);
    });

    test('does not change a stored pet with an object that it returned', async () => {
      const pets = await petStore();
      const pet = await added(pets, rex({ name: 'Rex', status: 'available' }));
      const page = await pets.list({ after: 0n, limit: 1 });
      for (const returned of [pet, await pets.find(pet.id), ...page]) {
        // Whether this throws or succeeds is the adapter's choice.
        Reflect.set(returned as Pet, 'name', 'Max');
      }
      Reflect.set(page, 'length', 0);
      expect(await pets.find(pet.id)).toMatchObject({ name: 'Rex', status: 'available' });
      expect(await pets.list({ after: 0n, limit: 1 })).toMatchObject([{ name: 'Rex', status: 'available' }]);
    });

    test('does not fail calls at the same time because of a defect of one of them', async () => {
      const pets = await petStore();
      const wrong = { ...rex(), name: null } as unknown as NewPet;
      const calls = Array.from({ length: 20 }, async (_, index) => pets.add(index % 5 === 2 ? wrong : rex()));
      const ends = await Promise.allSettled(calls);
      for (const [index, end] of ends.entries())
        if (index % 5 !== 2) expect(end.status, String(index)).toBe('fulfilled');
    });

    test('throws the error of a defect unchanged, and not as an outage', async () => {
      const pets = await petStore();
      for (const call of [() => pets.add(undefined as never), () => pets.list(undefined as never)]) {
        await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
      }
      // Whether a storage has constraints is the adapter's choice.
      for (const wrong of [{ name: 'x'.repeat(201) }, { status: 'lost' }, { name: null }, { categoryId: 'x' }]) {
        const error = await (async () => pets.add({ ...rex(), ...wrong } as NewPet))().catch((thrown) => thrown);
        expect(DomainError.is(error), JSON.stringify(wrong)).toBe(false);
      }
    });
  });
}
