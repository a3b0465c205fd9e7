import { createPetDecoder } from '@animal-store/adapter-kit';
import type { Pet } from '@animal-store/domain';
import { BSON } from 'mongodb';
import { type PetDocument, petOf } from './pet-document.ts';

/**
 * Decodes pets, and returns the same object again for the same bytes.
 *
 * @param maxBytes How much memory the cached pets may take, roughly.
 */
export function createDocumentDecoder(maxBytes: number): (document: Buffer) => Pet {
  const decodePet = createPetDecoder((bytes) => petOf(decoded(Buffer.from(bytes, 'latin1'))), maxBytes);
  // The keys are strings, because garbage collections take longer with many buffers.
  return (document) => decodePet(document.toString('latin1'));
}

function decoded(document: Buffer): PetDocument {
  return BSON.deserialize(document, { useBigInt64: true }) as PetDocument;
}
