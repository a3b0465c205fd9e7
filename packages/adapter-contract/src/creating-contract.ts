import { inspect } from 'node:util';
import { DomainError, LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import { ALL_PETS } from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { atOnce, thousandAtOnce } from './calls.ts';
import {
  added,
  everyPage,
  idempotencyOf,
  inOrderOfIds,
  LONGEST_NAME,
  LONGEST_PET,
  newPets,
  notoriousPets,
  rex,
} from './samples.ts';
import type { StorageTest } from './storage-under-test.ts';

/** Creating pets and reading them by their ids. */
export function creatingContract(test: StorageTest): void {
  test('assigns an id from 1 to 2^53 - 1, and returns any pet as it was given, code unit for code unit', async ({
    pets,
  }) => {
    await fc.assert(
      fc.asyncProperty(newPets, async (newPet) => {
        const pet = await added(pets, newPet);
        expect(pet).toStrictEqual({ id: pet.id, ...newPet });
        expect(pet.id).toBeGreaterThanOrEqual(1n);
        expect(pet.id).toBeLessThan(2n ** 53n);
        expect(await pets.find(pet.id)).toStrictEqual(pet);
        expect(await pets.list({ ...ALL_PETS, after: pet.id - 1n, limit: 1 })).toStrictEqual([pet]);
      }),
      { numRuns: 150, endOnFailure: true, examples: notoriousPets.map((newPet) => [newPet]) },
    );
    // Calls at the same time may share a statement.
    const created = await Promise.all(notoriousPets.map((newPet) => added(pets, newPet)));
    expect(created).toStrictEqual(notoriousPets.map((newPet, index) => ({ id: created[index]?.id, ...newPet })));
    expect(await Promise.all(created.map(({ id }) => pets.find(id)))).toStrictEqual(created);
  });

  test('finds nothing for an id that was never assigned', async ({ pets }) => {
    const { id } = await added(pets);
    const odd = [id + 1n, id + 2n ** 32n, id + 2n ** 52n, 2n ** 53n + id, LIMITS.id.max];
    for (const each of odd) expect(await pets.find(each), `find(${each}n)`).toBeNull();
    expect(await Promise.all(odd.map((each) => pets.find(each)))).toEqual(odd.map(() => null));
  });

  test('serves a thousand calls at once, of each kind', async ({ pets }) => {
    const pet = await added(pets);
    for (const found of await thousandAtOnce(() => pets.find(pet.id))) expect(found).toStrictEqual(pet);
    for (const page of await thousandAtOnce(() => pets.list({ ...ALL_PETS, after: 0n, limit: 1 })))
      expect(page).toStrictEqual([pet]);
    const created = await thousandAtOnce((index) => added(pets, rex({ name: `Rex ${index}` })));
    const all = inOrderOfIds([pet, ...created]);
    // A creation that was too slow may be stored, too.
    const ids = new Set(all.map(({ id }) => id));
    expect((await everyPage(pets)).filter(({ id }) => ids.has(id))).toEqual(all);
  });

  test('serves a thousand calls at once, each with a key, an id and a page of its own', async ({ pets }) => {
    const create = (index: number) => added(pets, rex(), idempotencyOf(rex(), `k${index}`));
    const created = await thousandAtOnce(create);
    const stored = inOrderOfIds(created);
    expect(await thousandAtOnce(create)).toStrictEqual(created);
    expect(await thousandAtOnce((index) => pets.find((stored[index] as Pet).id))).toStrictEqual(stored);
    const pages = await thousandAtOnce((index) =>
      pets.list({ ...ALL_PETS, after: (stored[index] as Pet).id, limit: 2 }),
    );
    expect(pages).toStrictEqual(stored.map((_, index) => stored.slice(index + 1, index + 3)));
  });

  test('lists the largest pets, more than any engine sends at once, and one with another status behind them', async ({
    pets,
  }) => {
    const largest = { ...LONGEST_PET, name: LONGEST_NAME };
    const create = (number: number) => {
      const key = { holder: LONGEST_NAME.slice(0, 200), key: String(number).padStart(255, 'k') };
      return added(pets, largest, idempotencyOf(largest, key));
    };
    const created: Pet[] = [];
    while (created.length < 1_000) created.push(...(await atOnce(100, (index) => create(created.length + index))));
    const stored = inOrderOfIds([...created, await added(pets, rex({ status: 'sold' }))]);
    expect(await pets.list({ after: 0n, limit: 2, status: 'sold' })).toStrictEqual(stored.slice(-1));
    for (const limit of [101, 99]) expect(await everyPage(pets, { limit })).toStrictEqual(stored);
    expect(await everyPage(pets, { limit: 101, status: 'available' })).toStrictEqual(stored.slice(0, -1));
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
        expect(found).toStrictEqual(pet);
        expect(page).toContainEqual(pet);
      }
    };
    await atOnce(5, createMany).finally(() => Promise.allSettled(inFlight));
    await Promise.all(inFlight);
  });

  test('does not fail calls at the same time because of a defect of one of them', async ({ pets }) => {
    const wrong = { ...rex(), name: null } as unknown as NewPet;
    const calls = Array.from({ length: 20 }, async (_, index) => pets.add(index % 5 === 2 ? wrong : rex()));
    const ends = await Promise.allSettled(calls);
    for (const [index, end] of ends.entries())
      if (index % 5 !== 2) expect(end, `call ${index}`).toMatchObject({ status: 'fulfilled' });
  });

  test('throws the error of a defect unchanged, and not as an outage', async ({ pets }) => {
    for (const call of [() => pets.add(undefined as never), () => pets.list(undefined as never)]) {
      await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
    }
    // An adapter may find nothing, and have no constraints.
    for (const id of [undefined as never, 2n ** 64n]) {
      const error = await (async () => pets.find(id))().catch((thrown) => thrown);
      expect(DomainError.is(error), `find(${id}): ${error}`).toBe(false);
    }
    for (const limit of ['x', {}, -1] as never[]) {
      const error = await (async () => pets.list({ ...ALL_PETS, after: 0n, limit }))().catch((thrown) => thrown);
      expect(DomainError.is(error), `limit ${inspect(limit)}: ${error}`).toBe(false);
    }
    const wrongMembers = [{ status: 'lost' }, { name: null }, { categoryId: 'x' }];
    const beyond = [{ name: 'x'.repeat(201) }, { name: '🐕'.repeat(10_000) }, { categoryId: 2n ** 63n }];
    for (const wrong of [...wrongMembers, ...beyond]) {
      const newPet = { ...rex(), ...wrong } as NewPet;
      const end = await (async () => pets.add(newPet))().catch((thrown) => thrown);
      expect(DomainError.is(end), inspect(wrong)).toBe(false);
      // An adapter may store it, but not change it.
      const pet = end instanceof Error ? null : { id: end.pet.id, ...newPet };
      if (pet) expect(await pets.find(pet.id), inspect(wrong)).toStrictEqual(pet);
    }
    const holders = ['z'.repeat(100), `${'z'.repeat(9_999)}a`, `${'z'.repeat(9_999)}b`];
    for (const holder of holders) {
      const end = await pets.add(rex(), idempotencyOf(rex(), { holder, key: 'k' })).catch((thrown) => thrown);
      expect(end, `a holder of ${holder.length} characters`).toSatisfy((end) => end instanceof Error || end.created);
      expect(DomainError.is(end), `a holder of ${holder.length} characters: ${end}`).toBe(false);
    }
  });
}
