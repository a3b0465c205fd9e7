import { LIMITS, type Pet } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import { type PetWithoutId, petWithoutId } from './pet-document.ts';
import type { PetReads } from './pet-reads.ts';

/** The operations on the pets of one open database. They fail with the driver's errors. */
export interface PetOperations extends PetReads {
  /** @returns The stored pet; if its idempotency key is known, the earlier pet or null: see `PetStore.add`. */
  create(pet: PetWithoutId): Promise<Pet | null>;
}

export function createMongoPetStore(connection: Connection<{ pets: PetOperations }>): PetStore {
  return {
    async add(newPet, create) {
      // Copied now: it may wait for others.
      const pet = petWithoutId(newPet, create);
      return connection.call(({ pets }) => pets.create(pet));
    },

    async find(id) {
      if (id < LIMITS.id.min || id > LIMITS.id.max) return null;
      return connection.call(({ pets }) => pets.find(id));
    },

    async list({ status, after, limit }) {
      if (after >= LIMITS.id.max) return [];
      // A copy: it may wait for others.
      const selection = { status, after, limit };
      return connection.call(({ pets }) => pets.list(selection));
    },
  };
}
