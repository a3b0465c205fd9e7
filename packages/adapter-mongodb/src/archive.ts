import type { Resource } from '@animal-store/adapter-kit';
import type { PetArchive, StoredPet } from '@animal-store/domain/ports';
import { BSON } from 'mongodb';
import type { Database } from './connection.ts';
import { decodePet, type PetDocument } from './documents.ts';
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

function documentOf({ id, createdAt, idempotency, ...pet }: StoredPet): PetDocument {
  return { _id: id, ...pet, createdAt: new Date(createdAt), ...(idempotency && { idempotency }) } as PetDocument;
}

function storedPetOf(document: Buffer): StoredPet {
  const { createdAt, idempotency } = BSON.deserialize(document) as Pick<PetDocument, 'createdAt' | 'idempotency'>;
  return { ...decodePet(document), createdAt: createdAt.getTime(), ...(idempotency && { idempotency }) };
}
