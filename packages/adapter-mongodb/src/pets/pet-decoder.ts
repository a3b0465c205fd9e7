import type { Pet } from '@animal-store/domain';
import { BSON } from 'mongodb';
import { type PetDocument, petOf } from './pet-document.ts';

/** What an entry takes in memory beside its bytes, which it has as a key and as values of the pet; measured. */
const ENTRY_BYTES = 170;

/** Returns the pet in a document. */
export type PetDecoder = (document: Buffer) => Pet;

/**
 * Decodes pets, and returns the same object again for the same bytes. It caches no results of queries: every document it
 * is given is in a response of the server.
 *
 * @param maxBytes How much memory the cached pets may take, roughly.
 */
export function createPetDecoder(maxBytes: number): PetDecoder {
  // Pets in use are in the recent half. When it is full, it becomes the older half, and the former older half is dropped.
  // The keys are strings, because garbage collections take longer with many buffers.
  let recent = new Map<string, Pet>();
  let older = new Map<string, Pet>();
  let recentBytes = 0;

  return (document) => {
    const bytes = document.toString('latin1');
    const known = recent.get(bytes);
    if (known !== undefined) return known;
    const pet = older.get(bytes) ?? decoded(document);
    recent.set(bytes, pet);
    recentBytes += 2 * bytes.length + ENTRY_BYTES;
    if (recentBytes > maxBytes / 2) {
      older = recent;
      recent = new Map();
      recentBytes = 0;
    }
    return pet;
  };
}

function decoded(document: Buffer): Pet {
  return petOf(BSON.deserialize(document, { useBigInt64: true }) as PetDocument);
}
