import type { Pet, PetTable } from '../pets.ts';

export function openTable(): PetTable {
  const pets: Pet[] = [];
  return {
    list: (limit, status) =>
      (status === undefined ? pets : pets.filter((pet) => pet.status === status)).slice(0, limit),
    get: (id) => pets[id - 1],
    create(newPet) {
      const created: Pet = { id: pets.length + 1, ...newPet };
      pets.push(created);
      return created;
    },
  };
}
