import type { Methods } from '@animal-store/adapter-kit';
import { ALL_PETS, type PetArchive, type StoredPet } from '@animal-store/domain/ports';
import { decodeDocument, type PetDocument, type Query, timeOf } from './documents.ts';
import type { ReadBarrier } from './election/read-barrier.ts';
import type { Insertions } from './insert.ts';
import { checkInt64, checkPageLimit } from './limits.ts';
import { rangeOf } from './pets.ts';

/** What the methods of the archive need of an open database. */
interface Archive {
  readonly insertions: Insertions;
  readonly barrier: ReadBarrier;
  readonly query: Query;
  check(): Promise<void>;
}

export const archive: Methods<PetArchive, Archive> = {
  read(call, after, limit) {
    checkPageLimit(limit);
    checkInt64('after', after);
    const { query, barrier } = call.connection;
    return barrier(async () => (await query(limit, rangeOf({ ...ALL_PETS, after }), call)).map(storedPetOf));
  },

  restore: (call, pets) => call.connection.insertions.restore(pets.map(documentOf), call),

  lastId(call) {
    const { insertions, barrier, check } = call.connection;
    return barrier(async () => {
      // A missing collection has no counter, like a new one.
      await check();
      return insertions.lastId(call);
    });
  },

  skipIds: (call, lastId) => call.connection.insertions.skipIds(lastId, call),
};

function documentOf({ id, createdAt, ...pet }: StoredPet): PetDocument {
  checkInt64('id', id);
  checkInt64('categoryId', pet.categoryId);
  return { _id: id, ...pet, createdAt: new Date(createdAt) };
}

function storedPetOf(document: Buffer): StoredPet {
  const { _id: id, createdAt, ...pet } = decodeDocument(document);
  return { id, ...pet, createdAt: timeOf(createdAt) };
}
