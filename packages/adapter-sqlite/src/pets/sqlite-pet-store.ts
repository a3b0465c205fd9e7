import type { NewPet, Pet } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';
import type { PetReads } from './pet-statements.ts';

export function createSqlitePetStore({ read, write }: Connection<{ pets: PetReads }>): PetStore {
  return {
    async add(newPet, idempotency) {
      const { holder = null, key = null, fingerprint = null } = idempotency ?? {};
      const { name, categoryId, status } = newPet;
      const creation = await write('createPet', name, categoryId, status ?? null, holder, key, fingerprint);
      if (creation === null) return null;
      // An equal fingerprint means an equal pet.
      return { pet: petOf(BigInt(creation.id), name, categoryId, status), created: creation.created };
    },

    find: (id) => read(({ pets }) => pets.find(id)),

    list: (selection) => read(({ pets }) => pets.list(selection)),
  };
}

function petOf(id: bigint, name: string, categoryId: bigint, status: NewPet['status']): Pet {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
}
