import type { NewPet, Pet, PetStatus } from '@animal-store/domain';
import { type Creation, idempotencyNameOf, type PetRepository, type SelectionBy } from '@animal-store/domain/ports';

/** An earlier creation under an idempotency key, as a repetition gets it. */
interface EarlierCreation {
  readonly fingerprint: string;
  readonly repetition: Creation;
}

/**
 * Pets in arrays, ascending by id because ids ascend: one of all pets, in which an id is an index, and one for each status,
 * in which a page begins by binary search. The cost of an operation grows with the logarithm of the catalogue at most.
 */
export function createMemoryPetRepository(): PetRepository {
  const all: Pet[] = [];
  const byStatus: Record<PetStatus, Pet[]> = { available: [], pending: [], sold: [] };
  const earlierCreations = new Map<string, EarlierCreation>();

  function store(newPet: NewPet): Pet {
    const { status } = newPet;
    const pet = Object.freeze({ id: BigInt(all.length + 1), ...newPet });
    if (status !== undefined) byStatus[status].push(pet);
    all.push(pet);
    return pet;
  }

  return {
    async add(newPet, idempotency) {
      if (idempotency === undefined) return { pet: store(newPet), created: true };
      const name = idempotencyNameOf(idempotency);
      const earlier = earlierCreations.get(name);
      if (earlier !== undefined) return earlier.fingerprint === idempotency.fingerprint ? earlier.repetition : null;
      const pet = store(newPet);
      earlierCreations.set(name, { fingerprint: idempotency.fingerprint, repetition: { pet, created: false } });
      return { pet, created: true };
    },

    async find(id) {
      return all[Number(id) - 1] ?? null;
    },

    async list({ status, after, limit }: SelectionBy<'status'>) {
      const pets = status === undefined ? all : byStatus[status];
      const start = status === undefined ? Number(after) : firstAfter(pets, after);
      return pets.slice(start, start + limit);
    },
  };
}

/** The index of the first pet whose id is greater than `after`, among pets in ascending order of id. */
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
