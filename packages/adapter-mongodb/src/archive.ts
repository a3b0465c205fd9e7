import type { Resource } from '@animal-store/adapter-kit';
import type { PetArchive, StoredPet } from '@animal-store/domain/ports';
import type { Database } from './connection.ts';
import { decodeDocument, type PetDocument } from './documents.ts';
import { rangeOf } from './read.ts';

export function createMongoArchive({ call }: Resource<Pick<Database, 'insertions' | 'query' | 'barrier'>>): PetArchive {
  return {
    read: (after, limit) =>
      call(({ query, barrier }) =>
        barrier(async () => (await query(limit, rangeOf({ after, limit }))).map(storedPetOf)),
      ),

    restore: (pets) => call(({ insertions }) => insertions.restore(pets.map(documentOf))),
  };
}

function documentOf({ id, createdAt, ...pet }: StoredPet): PetDocument {
  return { _id: id, ...pet, createdAt: new Date(createdAt) };
}

function storedPetOf(document: Buffer): StoredPet {
  const { _id: id, createdAt, ...pet } = decodeDocument(document);
  return { id, ...pet, createdAt: createdAt.getTime() };
}
