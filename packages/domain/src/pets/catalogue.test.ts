import { describe, expect, test } from 'vitest';
import { keysInMemory, observed, petsInMemory, unavailable } from '../../test/ports-in-memory.ts';
import { rejectionOf } from '../../test/rejection.ts';
import type { DomainError } from '../errors.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import type { NewPet, Pet } from './pet.ts';
import type { PetStore } from './pet-store.ts';

const rex = (given: object = {}): NewPet => ({ name: 'Rex', categoryId: 7n, ...given });

describe('createCatalogue', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a whole storage', { pets: petsInMemory() }],
    ['the keys of a storage', keysInMemory()],
    ['a list that is no method', { list: [] }],
  ])('rejects %s in the place of its pets, from JavaScript', (_, given) => {
    const error = new TypeError('pets must be those of a storage: storage.pets');
    expect(() => createCatalogue(given as PetStore)).toThrow(error);
  });

  test('reads and lists a pet that was created', async () => {
    const catalogue = createCatalogue(petsInMemory());
    const { pet } = await catalogue.createPet(rex({ status: 'sold' }));
    expect(pet).toStrictEqual({ id: pet.id, name: 'Rex', categoryId: 7n, status: 'sold' });
    expect(await catalogue.getPet(pet.id)).toStrictEqual(pet);
    expect(await catalogue.listPets()).toStrictEqual({ pets: [pet], next: null });
  });

  test('lists pages of 20 pets unless a limit is given', async () => {
    const catalogue = createCatalogue(petsInMemory());
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

  test('creates one pet for an idempotency key, however often it is called', async () => {
    const catalogue = createCatalogue(petsInMemory());
    const key = { holder: 'the zoo', key: 'k-1' };
    const { pet, created } = await catalogue.createPet(rex(), key);
    expect(created).toBe(true);
    expect(await catalogue.createPet(rex(), key)).toStrictEqual({ pet, created: false });
    expect((await catalogue.listPets()).pets).toStrictEqual([pet]);
    // Another holder's key is another key, and without one each call creates.
    await catalogue.createPet(rex(), { ...key, holder: 'another zoo' });
    await catalogue.createPet(rex());
    expect((await catalogue.listPets()).pets).toHaveLength(3);
  });

  test('names the violations of the pet and of its idempotency key together', async () => {
    const { port, calls } = observed(petsInMemory());
    const pet = rex({ name: '', categoryId: '7' });
    const idempotencyKey = { holder: '\ud800', key: ' ' };
    const violations = [
      { field: 'name', message: 'name must have a character that is not white space' },
      { field: 'categoryId', message: expect.stringMatching(/^categoryId must be an integer .*, was "7"$/) },
      { field: 'idempotencyKey', message: expect.stringMatching(/^the idempotency key must be .*, was " "$/) },
      { field: 'holder', message: expect.stringMatching(/^the holder of an idempotency key must be at most/) },
    ];
    const creation = createCatalogue(port).createPet(pet, idempotencyKey);
    await expect(creation).rejects.toMatchObject({ code: 'invalid', violations });
    await creation.catch((error: DomainError) => {
      expect(error.message).toBe(error.violations.map(({ message }) => message).join('; '));
    });
    expect(calls).toEqual([]);
  });

  test('rejects an idempotency key that stands for another pet', async () => {
    const catalogue = createCatalogue(petsInMemory());
    const key = { holder: 'the zoo', key: 'k-1' };
    const { pet } = await catalogue.createPet(rex(), key);
    for (const other of [{ name: 'Max' }, { categoryId: 8n }, { status: 'sold' }]) {
      expect(await rejectionOf(() => catalogue.createPet(rex(other), key))).toEqual({
        code: 'idempotency_key_reused',
        message: 'this idempotency key was used for another pet: use a new key, or send the first pet again',
      });
    }
    expect((await catalogue.listPets()).pets).toStrictEqual([pet]);
  });

  test.each<[string, (catalogue: Catalogue) => Promise<unknown>]>([
    ['limit', ({ listPets }) => listPets({ limit: 101 })],
    ['name', ({ createPet }) => createPet(rex({ name: '' }))],
    ['pet', ({ createPet }) => createPet(null as unknown as NewPet)],
    ...[{ holder: 'the zoo', key: '' }, null, '', 0, 'k-1'].map(
      (key) =>
        ['idempotencyKey', ({ createPet }: Catalogue) => createPet(rex(), key as never)] as [
          string,
          (catalogue: Catalogue) => Promise<unknown>,
        ],
    ),
  ])('rejects a wrong %s before it asks the storage', async (field, call) => {
    const { port, calls } = observed(petsInMemory());
    const violations = expect.arrayContaining([expect.objectContaining({ field })]);
    await expect(call(createCatalogue(port))).rejects.toMatchObject({ code: 'invalid', violations });
    expect(calls).toEqual([]);
  });

  test.each([
    [-1n, 0],
    [0n, 0],
    [2n, 1],
    [2n ** 63n - 1n, 1],
    [2n ** 63n, 0],
  ])('rejects the id %d, which no pet has, after %d queries', async (id, times) => {
    const pets = petsInMemory();
    await createCatalogue(pets).createPet(rex());
    const { port, calls } = observed(pets);
    expect(await rejectionOf(() => createCatalogue(port).getPet(id))).toEqual({
      code: 'pet_not_found',
      message: `no pet has the id ${id}`,
    });
    expect(calls).toHaveLength(times);
  });

  test.each([
    ['x7', '"x7"'],
    [undefined, 'missing'],
    [{ $ne: null }, 'an object'],
  ])('quotes the id %j, which is none', async (id, quoted) => {
    const rejection = rejectionOf(() => createCatalogue(petsInMemory()).getPet(id as unknown as bigint));
    expect(await rejection).toEqual({ code: 'invalid', message: `id must be an integer, was ${quoted}` });
  });

  test('passes a copy with the members of a new pet only to the storage', async () => {
    const stored: NewPet[] = [];
    const pets = petsInMemory();
    const catalogue = createCatalogue({
      ...pets,
      add(newPet) {
        stored.push(newPet);
        return pets.add(newPet);
      },
    });
    const given = { ...rex(), id: 5n, legs: 4, status: undefined };
    const creation = catalogue.createPet(given);
    Object.assign(given, { name: 'Max' });
    await creation;
    expect(stored).toStrictEqual([{ name: 'Rex', categoryId: 7n }]);
  });

  test('rejects with storage_unavailable, not pet_not_found or an empty page, if the storage is unavailable', async () => {
    const catalogue = createCatalogue(unavailable(petsInMemory()));
    for (const call of [() => catalogue.getPet(1n), () => catalogue.listPets(), () => catalogue.createPet(rex())]) {
      expect((await rejectionOf(call)).code).toBe('storage_unavailable');
    }
  });
});
