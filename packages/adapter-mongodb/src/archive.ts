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

    lastId: () => call(({ insertions, barrier }) => barrier(() => insertions.lastId())),

    skipIds: (lastId) => call(({ insertions }) => insertions.skipIds(lastId)),
  };
}

function documentOf({ id, createdAt, ...pet }: StoredPet): PetDocument {
  return { _id: id, ...pet, createdAt: new Date(createdAt) };
}

/** The latest Date. A BSON date can be outside that range: no Date has it then. */
const LATEST = 8_640_000_000_000_000;

function storedPetOf(document: Buffer): StoredPet {
  const { _id: id, createdAt, ...pet } = decodeDocument(document);
  const time = createdAt.getTime();
  return { id, ...pet, createdAt: Number.isNaN(time) ? LATEST : time };
}
