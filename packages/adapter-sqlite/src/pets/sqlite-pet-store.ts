import type { PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import { petOf } from './pet-statements.ts';

export function createSqlitePetStore({ read, write }: Connection): PetStore {
  return {
    async add({ name, categoryId, status = null }, idempotency) {
      const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
      const creation = await write('createPet', name, categoryId, status, holder, key, fingerprint);
      if (creation === null) return null;
      // An equal fingerprint means an equal pet.
      return { pet: petOf([BigInt(creation.id), name, categoryId, status]), created: creation.created };
    },

    find: (id) => read(({ pets }) => pets.find(id)),

    list: (selection) => read(({ pets }) => pets.list(selection)),
  };
}
