import type { Resource } from '@animal-store/adapter-kit';
import type { PetStore } from '@animal-store/domain/ports';
import type { Database } from './connection.ts';

export function createMongoPetStore({ call }: Resource<Pick<Database, 'insertions' | 'reads'>>): PetStore {
  return {
    add: ({ name, categoryId, status }, idempotency) =>
      call(({ insertions }) =>
        insertions.create({ name, categoryId, ...(status && { status }), ...(idempotency && { idempotency }) }),
      ),

    find: (id) => call(({ reads }) => reads.find(id)),

    list: (selection) => call(({ reads }) => reads.list(selection)),
  };
}
