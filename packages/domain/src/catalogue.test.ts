import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answeringLater, observed, outOfReach, petsInMemory } from '../test/ports-in-memory.ts';
import { refusalOf } from '../test/refusal.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { type NewPet, type Pet, parseNewPet } from './pet.ts';
import type { PetQuery } from './pet-query.ts';
import { PET_STATUSES } from './pet-status.ts';

const animal = (given: object = {}): NewPet => parseNewPet({ name: 'Rex', categoryId: 7n, ...given });

const animals = fc.record({ status: fc.constantFrom(...PET_STATUSES, undefined) }).map(animal);

async function added(catalogue: Catalogue, newPets: readonly NewPet[]): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (const newPet of newPets) pets.push(await catalogue.createPet(newPet));
  return pets;
}

async function everyPage(catalogue: Catalogue, query: PetQuery): Promise<(readonly Pet[])[]> {
  const pages: (readonly Pet[])[] = [];
  for (let after = query.after; ; ) {
    const { pets, next } = await catalogue.listPets({ ...query, after });
    pages.push(pets);
    if (next === null) return pages;
    expect(next).toBe(pets.at(-1)?.id);
    after = next;
  }
}

describe.each([
  ['answers at once', petsInMemory],
  ['answers later', () => answeringLater(petsInMemory())],
])('the catalogue, on storage that %s', (_when, open) => {
  test('reads and lists an animal that was added', async () => {
    const catalogue = createCatalogue(open());
    const rex = await catalogue.createPet(animal({ status: 'sold' }));
    expect(rex).toStrictEqual({ id: rex.id, name: 'Rex', categoryId: 7n, status: 'sold' });
    expect(await catalogue.getPet(rex.id)).toStrictEqual(rex);
    expect(await catalogue.listPets()).toStrictEqual({ pets: [rex], next: null });
  });

  test('says of an id that no animal has: pet_not_found', async () => {
    const catalogue = createCatalogue(open());
    await catalogue.createPet(animal());
    for (const id of [0n, 2n, -1n, 2n ** 80n]) {
      expect(await refusalOf(() => catalogue.getPet(id))).toEqual({
        code: 'pet_not_found',
        message: `no animal has the id ${id}`,
      });
    }
  });

  test('gives pages of 20 animals unless asked otherwise', async () => {
    const catalogue = createCatalogue(open());
    const pets = await added(catalogue, Array(20).fill(animal()));
    expect(await catalogue.listPets()).toStrictEqual({ pets, next: null });
    pets.push(await catalogue.createPet(animal()));
    expect(await catalogue.listPets()).toStrictEqual({ pets: pets.slice(0, 20), next: 20n });
    expect(await catalogue.listPets({ after: 0n })).toStrictEqual(await catalogue.listPets());
    expect(await catalogue.listPets({ limit: 1 })).toStrictEqual({ pets: pets.slice(0, 1), next: 1n });
    expect(await catalogue.listPets({ limit: 21 })).toStrictEqual({ pets, next: null });
    expect(await catalogue.listPets({ after: 2n ** 63n - 1n })).toStrictEqual({ pets: [], next: null });
  });

  test('gives whoever follows its pages each matching animal once, in full pages, the last of which is not empty', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(animals, { maxLength: 30 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(...PET_STATUSES, undefined),
        async (newPets, limit, status) => {
          const catalogue = createCatalogue(open());
          const pets = await added(catalogue, newPets);
          const matching = pets.filter((pet) => status === undefined || pet.status === status);
          const pages = await everyPage(catalogue, { limit, status });
          expect(pages.flat()).toStrictEqual(matching);
          expect(pages).toHaveLength(Math.max(1, Math.ceil(matching.length / limit)));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('adds one animal for an idempotency key, however often it is asked to', async () => {
    const catalogue = createCatalogue(open());
    const key = { holder: 'the zoo', key: 'k-1' };
    const rex = await catalogue.createPet(animal(), key);
    expect(await catalogue.createPet(animal(), key)).toStrictEqual(rex);
    expect((await catalogue.listPets()).pets).toStrictEqual([rex]);
    // Another holder's key is another key, and without one each call adds.
    await catalogue.createPet(animal(), { ...key, holder: 'another zoo' });
    await catalogue.createPet(animal());
    expect((await catalogue.listPets()).pets).toHaveLength(3);
  });

  test('does not let an idempotency key stand for a second animal', async () => {
    const catalogue = createCatalogue(open());
    const key = { holder: 'the zoo', key: 'k-1' };
    const rex = await catalogue.createPet(animal(), key);
    for (const other of [{ name: 'Max' }, { categoryId: 8n }, { status: 'sold' }]) {
      expect(await refusalOf(() => catalogue.createPet(animal(other), key))).toEqual({
        code: 'idempotency_key_reused',
        message: 'this idempotency key was used for another animal: use a new key, or send the first animal again',
      });
    }
    expect((await catalogue.listPets()).pets).toStrictEqual([rex]);
  });
});

test.each<PetQuery>([{ limit: 0 }, { limit: 101 }, { status: 'Sold' as 'sold' }, { after: -1n }])(
  'the page %o is refused before the storage is asked',
  async (query) => {
    const { port, calls } = observed(petsInMemory());
    const { code } = await refusalOf(() => createCatalogue(port).listPets(query));
    expect(code).toBe('invalid_request');
    expect(calls).toEqual([]);
  },
);

test.each([
  ['', '""'],
  [' ', '" "'],
  ['a b', '"a b"'],
  ['k\n', '"k\\n"'],
  ['ключ', '"ключ"'],
  ['\u007f', '"\u007f"'],
  ['k'.repeat(256), `"${'k'.repeat(40)}"…`],
])('the idempotency key %j is refused, and nothing is added', async (key, quote) => {
  const { port, calls } = observed(petsInMemory());
  expect(await refusalOf(() => createCatalogue(port).createPet(animal(), { holder: 'the zoo', key }))).toEqual({
    code: 'invalid_request',
    message: `the idempotency key must be 1 to 255 visible ASCII characters, was ${quote}`,
  });
  expect(calls).toEqual([]);
});

test.each(['!', '~', 'k'.repeat(255)])('the idempotency key %.10j is taken', async (key) => {
  const catalogue = createCatalogue(petsInMemory());
  expect(await catalogue.createPet(animal(), { holder: 'the zoo', key })).toMatchObject({ id: 1n });
});

test('storage that answers at once is not made to wait: no promise comes back', () => {
  const catalogue = createCatalogue(petsInMemory());
  expect(catalogue.createPet(animal())).toEqual({ id: 1n, name: 'Rex', categoryId: 7n });
  expect(catalogue.getPet(1n)).toMatchObject({ id: 1n });
  expect(catalogue.listPets()).toMatchObject({ next: null });
});

test('storage out of reach is service_unavailable, never an animal that is missing or a page that is empty', async () => {
  const catalogue = createCatalogue(outOfReach(petsInMemory()));
  for (const call of [() => catalogue.getPet(1n), () => catalogue.listPets(), () => catalogue.createPet(animal())]) {
    expect((await refusalOf(call)).code).toBe('service_unavailable');
  }
});
