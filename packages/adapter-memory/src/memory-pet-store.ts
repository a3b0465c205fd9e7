import type { NewPet, Pet, PetStatus } from '@animal-store/domain';
import type { Creation, Idempotency, PetSelection, PetStore } from '@animal-store/domain/ports';

/** An earlier creation under an idempotency key, as a repetition gets it. */
interface EarlierCreation {
  readonly fingerprint: string;
  readonly repetition: Creation;
}

/** The pets of one status, ascending by id, and beside them their ids as plain numbers: a search stays in the CPU's cache. */
interface StatusIndex {
  readonly ids: number[];
  readonly pets: Pet[];
}

/**
 * Pets in arrays, ascending by id because ids ascend: one of all pets, in which an id is an index, and one for each status,
 * in which a page begins by binary search. The cost of an operation grows with the logarithm of the catalogue at most.
 */
export function createMemoryPetStore(): PetStore {
  const all: Pet[] = [];
  const byStatus: Record<PetStatus, StatusIndex> = {
    available: { ids: [], pets: [] },
    pending: { ids: [], pets: [] },
    sold: { ids: [], pets: [] },
  };
  const earlierCreations = new Map<string, EarlierCreation>();

  function store({ name, categoryId, status }: NewPet): Pet {
    const number = all.length + 1;
    const id = BigInt(number);
    const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status });
    all.push(pet);
    if (status !== undefined) {
      byStatus[status].ids.push(number);
      byStatus[status].pets.push(pet);
    }
    return pet;
  }

  return {
    async add(newPet, idempotency) {
      if (idempotency === undefined) return { pet: store(newPet), created: true };
      const name = nameOf(idempotency);
      const earlier = earlierCreations.get(name);
      if (earlier !== undefined) return earlier.fingerprint === idempotency.fingerprint ? earlier.repetition : null;
      const pet = store(newPet);
      earlierCreations.set(name, { fingerprint: idempotency.fingerprint, repetition: { pet, created: false } });
      return { pet, created: true };
    },

    async find(id) {
      return all[Number(id) - 1] ?? null;
    },

    async list({ status, after, limit }: PetSelection) {
      if (status === undefined) return page(all, Number(after), limit);
      const { ids, pets } = byStatus[status];
      return page(pets, firstAfter(ids, Number(after)), limit);
    },
  };
}

/** A holder may contain any character, a key no space: the first space ends the key. */
function nameOf({ holder, key }: Idempotency): string {
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
