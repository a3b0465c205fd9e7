import { createMemoryStorage } from '@animal-store/adapter-memory';
import { describe, expect, test } from 'vitest';
import { observed, UNAVAILABLE } from '../../test/ports.ts';
import type { DomainError } from '../errors.ts';
import { quote } from '../quote.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import type { NewPet, Pet } from './pet.ts';

const rex = (given: object = {}): NewPet => ({ name: 'Rex', categoryId: 7n, ...given });

const catalogueInMemory = () => createCatalogue(createMemoryStorage().pets);

describe('createCatalogue', () => {
  test.each([undefined, { holder: 'the zoo', key: 'k-1' }])(
    'creates a pet with the members of a pet only, reads and lists it, with the idempotency key %j',
    async (key) => {
      const catalogue = catalogueInMemory();
      const given = rex({ status: 'sold', id: 5n, legs: 4 });
      const creation = catalogue.createPet(given, key);
      Object.assign(given, { name: 'Max' });
      const pet = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' };
      expect(await creation).toStrictEqual({ pet, created: true });
      expect(await catalogue.getPet(1n)).toStrictEqual(pet);
      expect(await catalogue.listPets()).toStrictEqual({ pets: [pet], next: null });
    },
  );

  test('lists pages of 20 pets unless a limit is given', async () => {
    const catalogue = catalogueInMemory();
    const pets: Pet[] = [];
    while (pets.length < 20) pets.push((await catalogue.createPet(rex())).pet);
    expect(await catalogue.listPets()).toStrictEqual({ pets, next: null });
    pets.push((await catalogue.createPet(rex())).pet);
    expect(await catalogue.listPets()).toStrictEqual({ pets: pets.slice(0, 20), next: 20n });
    expect(await catalogue.listPets({ after: 0n })).toStrictEqual(await catalogue.listPets());
    expect(await catalogue.listPets({ limit: 1 })).toStrictEqual({ pets: pets.slice(0, 1), next: 1n });
    expect(await catalogue.listPets({ limit: 21 })).toStrictEqual({ pets, next: null });
    expect(await catalogue.listPets({ after: 2n ** 63n - 1n })).toStrictEqual({ pets: [], next: null });
  });

  test('creates one pet for an idempotency key, and rejects the key for another pet', async () => {
    const catalogue = catalogueInMemory();
    const key = { holder: 'the zoo', key: 'k-1' };
    const { pet, created } = await catalogue.createPet(rex(), key);
    expect(created).toBe(true);
    expect(await catalogue.createPet(rex(), key)).toStrictEqual({ pet, created: false });
    await expect(catalogue.createPet(rex({ name: 'Max' }), key)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
      message: 'this idempotency key was used for another pet: use a new key, or send the first pet again',
    });
    expect((await catalogue.listPets()).pets).toStrictEqual([pet]);
    // Another holder's key is another key, and without one each call creates.
    await catalogue.createPet(rex(), { ...key, holder: 'another zoo' });
    await catalogue.createPet(rex());
    expect((await catalogue.listPets()).pets).toHaveLength(3);
  });

  test('names the violations of the pet and of its idempotency key together', async () => {
    const violations = [
      { field: 'name', message: 'name must have a character that is not white space' },
      { field: 'categoryId', message: expect.stringMatching(/^categoryId must be an integer .*, was "7"$/) },
      { field: 'idempotencyKey', message: expect.stringMatching(/^the idempotency key must be .*, was " "$/) },
      { field: 'holder', message: expect.stringMatching(/^the holder of an idempotency key must be at most/) },
    ];
    const creation = catalogueInMemory().createPet(rex({ name: '', categoryId: '7' }), { holder: '\ud800', key: ' ' });
    await expect(creation).rejects.toMatchObject({ code: 'invalid', violations });
    await creation.catch((error: DomainError) => {
      expect(error.message).toBe(error.violations.map(({ message }) => message).join('; '));
    });
  });

  test.each<[string, (catalogue: Catalogue) => Promise<unknown>]>([
    ['limit', ({ listPets }) => listPets({ limit: 101 })],
    ['name', ({ createPet }) => createPet(rex({ name: '' }))],
    ['pet', ({ createPet }) => createPet(null as unknown as NewPet)],
    ['idempotencyKey', ({ createPet }) => createPet(rex(), { holder: 'the zoo', key: '' })],
    ['idempotencyKey', ({ createPet }) => createPet(rex(), null as never)],
  ])('rejects a wrong %s before it asks the storage', async (field, call) => {
    const { pets, calls } = observed();
    const violations = expect.arrayContaining([expect.objectContaining({ field })]);
    await expect(call(createCatalogue(pets))).rejects.toMatchObject({ code: 'invalid', violations });
    expect(calls).toEqual([]);
  });

  test.each([
    [-1n, 0],
    [0n, 0],
    [2n, 1],
    [2n ** 63n - 1n, 1],
    [2n ** 63n, 0],
  ])('rejects the id %d, which no pet has, after %d queries', async (id, times) => {
    const { pets, calls } = observed();
    const reading = createCatalogue(pets).getPet(id);
    await expect(reading).rejects.toMatchObject({ code: 'pet_not_found', message: `no pet has the id ${id}` });
    expect(calls).toHaveLength(times);
  });

  test.each(['x7', undefined, { $ne: null }])('quotes the id %j, which is none', async (id) => {
    const error = { code: 'invalid', message: `id must be an integer, was ${quote(id)}` };
    await expect(catalogueInMemory().getPet(id as unknown as bigint)).rejects.toMatchObject(error);
  });

  test('rejects with storage_unavailable, not pet_not_found or an empty page, if the storage is unavailable', async () => {
    const catalogue = createCatalogue(UNAVAILABLE.pets);
    for (const call of [() => catalogue.getPet(1n), () => catalogue.listPets(), () => catalogue.createPet(rex())]) {
      await expect(call()).rejects.toMatchObject({ code: 'storage_unavailable' });
    }
  });
});
