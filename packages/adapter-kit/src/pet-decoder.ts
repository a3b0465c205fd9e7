import type { Pet } from '@animal-store/domain';

/** What an entry takes in memory beside its text, which it has as a key and as values of the pet; measured. */
const ENTRY_BYTES = 170;

/** Returns the pet that a database has stored as this text. */
export type PetDecoder = (stored: string) => Pet;

/**
 * Decodes pets, and returns the same frozen object again for the same text. It caches no results of queries: every text
 * that it is given is in a response of the database.
 *
 * @param decode Makes a pet.
 * @param maxBytes How much memory the cached pets may take, roughly, if their characters take a byte each.
 */
export function createPetDecoder(decode: PetDecoder, maxBytes: number): PetDecoder {
  // Pets in use are in the recent half. When it is full, it becomes the older half, and the former older half is dropped.
  let recent = new Map<string, Pet>();
  let older = new Map<string, Pet>();
  let recentBytes = 0;

  return (stored) => {
    const known = recent.get(stored);
    if (known !== undefined) return known;
    const pet = older.get(stored) ?? Object.freeze(decode(stored));
    recent.set(stored, pet);
    recentBytes += 2 * stored.length + ENTRY_BYTES;
    if (recentBytes > maxBytes / 2) {
      older = recent;
      recent = new Map();
      recentBytes = 0;
    }
    return pet;
  };
}
