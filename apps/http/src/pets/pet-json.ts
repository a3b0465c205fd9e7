import type { Pet } from '@animal-store/domain';
import { createCache } from './cache.ts';

/** A pet as JSON text, its 64-bit integers digit for digit; `status` only if it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const known = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  return status === undefined ? `${known}}` : `${known},"status":"${status}"}`;
}

/** How many texts each generation of the cache holds. */
const TEXTS_MAX = 20_000;

/**
 * Prepares a function that writes pets as a JSON array. It caches the texts of frozen pets, which are the same objects as long as
 * they are unchanged: see `PetStore`.
 */
export function createPetsJson(): (pets: readonly Pet[]) => string {
  const texts = createCache<Pet, string>(TEXTS_MAX, () => 1);
  function textOf(pet: Pet): string {
    if (!Object.isFrozen(pet)) return petJson(pet);
    let text = texts.get(pet);
    if (text === undefined) {
      text = petJson(pet);
      texts.set(pet, text);
    }
    return text;
  }
  return (pets) => `[${pets.map(textOf).join(',')}]`;
}
