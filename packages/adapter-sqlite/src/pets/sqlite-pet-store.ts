import { LIMITS, type NewPet, type Pet } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection.ts';

export function createSqlitePetStore({ read, write }: Connection): PetStore {
  return {
    async add(newPet, idempotentCreate) {
      const { holder = null, key = null, fingerprint = null } = idempotentCreate ?? {};
      const { name, categoryId, status } = newPet;
      const id = await write('createPet', name, categoryId, status ?? null, holder, key, fingerprint);
      // An equal fingerprint means an equal pet.
      return id === null ? null : petOf(BigInt(id), name, categoryId, status);
    },

    find: (id) => (id < LIMITS.id.min || id > LIMITS.id.max ? null : read(({ pets }) => pets.find(id))),

    list: (selection) => read(({ pets }) => pets.list(selection)),
  };
}

function petOf(id: bigint, name: string, categoryId: bigint, status: NewPet['status']): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
}
