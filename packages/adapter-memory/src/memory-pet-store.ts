import type { IdempotentAddition, NewPet, Pet, PetSelection, PetStatus, PetStore } from '@animal-store/domain';

interface Added {
  readonly fingerprint: string;
  readonly pet: Pet;
}

/**
 * Animals in arrays that are ascending by id because ids are: one of all animals, where an id is an index, and one for
 * each status, where a page begins by binary search. No operation's cost grows with the catalogue but by its logarithm.
 */
export function createMemoryPetStore(): PetStore {
  const all: Pet[] = [];
  const byStatus: Record<PetStatus, Pet[]> = { available: [], pending: [], sold: [] };
  const additions = new Map<string, Added>();

  function store({ name, categoryId, status }: NewPet): Pet {
    const id = BigInt(all.length + 1);
    const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status });
    all.push(pet);
    if (status !== undefined) byStatus[status].push(pet);
    return pet;
  }

  return {
    add(newPet, addition) {
      if (addition === undefined) return store(newPet);
      const name = nameOf(addition);
      const earlier = additions.get(name);
      if (earlier !== undefined) return earlier.fingerprint === addition.fingerprint ? earlier.pet : null;
      const pet = store(newPet);
      additions.set(name, { fingerprint: addition.fingerprint, pet });
      return pet;
    },

    find(id) {
      return all[Number(id) - 1] ?? null;
    },

    list({ status, after, limit }: PetSelection) {
      const pets = status === undefined ? all : byStatus[status];
      const start = status === undefined ? Number(after) : firstAfter(pets, after);
      return pets.slice(start, start + limit);
    },
  };
}

/** A holder may contain any character, a key no space: the first space ends the key. */
function nameOf({ holder, key }: IdempotentAddition): string {
  return `${key} ${holder}`;
}

/** The index of the first animal whose id is greater than `after`, in an array ascending by id. */
function firstAfter(pets: readonly Pet[], after: bigint): number {
  let low = 0;
  let high = pets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pets[middle] as Pet).id <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
