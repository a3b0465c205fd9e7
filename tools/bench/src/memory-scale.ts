// What the memory adapter's operations cost while the catalogue grows: nanoseconds an operation, medians of interleaved
// rounds.

import { createMemoryStorage } from '@animal-store/adapter-memory';
import { type NewPet, PET_STATUSES } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import { median } from './scenarios.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const ROUNDS = 9;
const CALLS = 20_000;

const rex: NewPet = { name: 'Rex', categoryId: 7n };
const newPets = [...PET_STATUSES.map((status) => ({ ...rex, status })), rex];

function storeOf(size: number): PetStore {
  const { pets } = createMemoryStorage();
  for (let index = 0; index < size; index += 1) pets.add(newPets[index % 4] as (typeof newPets)[0]);
  return pets;
}

/** Ids spread over the catalogue, so that no operation is asked for the same place twice in a row. */
const idIn = (size: number, turn: number) => BigInt((turn * 7_919) % size) + 1n;

const operations: Record<string, (pets: PetStore, size: number, turn: number) => unknown> = {
  find: (pets, size, turn) => pets.find(idIn(size, turn)),
  'list 20': (pets, size, turn) => pets.list({ after: idIn(size, turn), limit: 21 }),
  'list 20 by status': (pets, size, turn) => pets.list({ status: 'sold', after: idIn(size, turn), limit: 21 }),
  'list 100 by status': (pets, size, turn) => pets.list({ status: 'sold', after: idIn(size, turn), limit: 101 }),
  add: (pets, _size, turn) => pets.add(newPets[turn % 4] as (typeof newPets)[0]),
};

const stores = SIZES.map((size) => ({ size, pets: storeOf(size) }));
console.log(`nanoseconds an operation${SIZES.map((size) => String(size).padStart(12)).join('')}`);
for (const [name, run] of Object.entries(operations)) {
  const times = new Map<number, number[]>(SIZES.map((size) => [size, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { size, pets } of stores) {
      const start = process.hrtime.bigint();
      for (let turn = 0; turn < CALLS; turn += 1) run(pets, size, turn + round * CALLS);
      times.get(size)?.push(Number(process.hrtime.bigint() - start) / CALLS);
    }
  }
  console.log(
    name.padEnd(24) +
      SIZES.map((size) =>
        median(times.get(size) ?? [])
          .toFixed(0)
          .padStart(12),
      ).join(''),
  );
}
