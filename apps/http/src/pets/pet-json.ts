import type { Pet } from '@animal-store/domain';
import { createCache } from './cache.ts';

/** A pet as JSON text, its 64-bit integers digit for digit; `status` only if it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const known = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  return status === undefined ? `${known}}` : `${known},"status":"${status}"}`;
}

/** Writes a pet as JSON text. */
export type PetJson = (pet: Pet) => string;

/** How many texts each generation of the cache holds. */
const TEXTS_MAX = 20_000;

/** Caches the texts of frozen pets, which are the same objects as long as they are unchanged: see `PetStore`. */
export function cachedPetJson(): PetJson {
  const texts = createCache<Pet, string>(TEXTS_MAX, () => 1);
  return (pet) => {
    if (!Object.isFrozen(pet)) return petJson(pet);
    const cached = texts.get(pet);
    if (cached !== undefined) return cached;
    const text = petJson(pet);
    texts.set(pet, text);
    return text;
  };
}

/** A page of pets as a JSON array. */
export function petsJson(pets: readonly Pet[], write: PetJson): string {
  let text = '[';
  for (let index = 0; index < pets.length; index += 1) text += (index === 0 ? '' : ',') + write(pets[index] as Pet);
  return `${text}]`;
}
