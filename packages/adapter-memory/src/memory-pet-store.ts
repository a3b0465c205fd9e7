import type { IdempotentCreate, NewPet, Pet, PetSelection, PetStatus, PetStore } from '@animal-store/domain';

interface Added {
  readonly fingerprint: string;
  readonly pet: Pet;
}

/** The animals of one status, ascending by id, and beside them their ids as plain numbers: a search stays in the cache. */
interface Shelf {
  readonly ids: number[];
  readonly pets: Pet[];
}

/**
 * Animals in arrays that are ascending by id because ids are: one of all animals, where an id is an index, and one for
 * each status, where a page begins by binary search. No operation's cost grows with the catalogue but by its logarithm.
 */
export function createMemoryPetStore(): PetStore {
  const all: Pet[] = [];
  const shelves: Record<PetStatus, Shelf> = {
    available: { ids: [], pets: [] },
    pending: { ids: [], pets: [] },
    sold: { ids: [], pets: [] },
  };
  const additions = new Map<string, Added>();

  function store({ name, categoryId, status }: NewPet): Pet {
    const number = all.length + 1;
    const id = BigInt(number);
    const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status });
    all.push(pet);
    if (status !== undefined) {
      shelves[status].ids.push(number);
      shelves[status].pets.push(pet);
    }
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
      if (status === undefined) return page(all, Number(after), limit);
      const { ids, pets } = shelves[status];
      return page(pets, firstAfter(ids, Number(after)), limit);
    },
  };
}

/** A holder may contain any character, a key no space: the first space ends the key. */
function nameOf({ holder, key }: IdempotentCreate): string {
  return `${key} ${holder}`;
}

function page(pets: readonly Pet[], start: number, limit: number): readonly Pet[] {
  return pets.slice(start, start + limit);
}

/** The index of the first id that is greater than `after`, among ascending ids. */
function firstAfter(ids: readonly number[], after: number): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as number) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
