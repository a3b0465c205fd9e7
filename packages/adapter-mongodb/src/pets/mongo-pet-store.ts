import type { Creation, PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import { type PetWithoutId, petWithoutId } from './pet-document.ts';
import type { PetReads } from './pet-reads.ts';

/** The operations on the pets of one open database. They fail with the driver's errors. */
export interface PetOperations extends PetReads {
  /** @see PetStore.add */
  create(pet: PetWithoutId): Promise<Creation | null>;
}

export function createMongoPetStore(connection: Connection<{ pets: PetOperations }>): PetStore {
  return {
    async add(newPet, idempotency) {
      // The pet is copied now, because the call may wait for others.
      const pet = petWithoutId(newPet, idempotency);
      return connection.call(({ pets }) => pets.create(pet));
    },

    async find(id) {
      return connection.call(({ pets }) => pets.find(id));
    },

    async list({ status, after, limit }) {
      // The selection is copied, because the call may wait for others.
      const selection = { status, after, limit };
      return connection.call(({ pets }) => pets.list(selection));
    },
  };
}
