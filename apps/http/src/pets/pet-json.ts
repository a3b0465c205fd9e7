import type { Pet } from '@animal-store/domain';

/** A pet as JSON text, its 64-bit integers digit for digit; `status` only if it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const known = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  return status === undefined ? `${known}}` : `${known},"status":"${status}"}`;
}

/** Writes a pet as JSON text. */
export type PetJson = (pet: Pet) => string;

/** How many texts are cached. */
const TEXTS = 10_000;

/**
 * Caches texts for a storage that returns the same object for an unchanged pet. Each text has one place, which its pet's id
 * determines: a WeakMap would keep the text of every pet that was ever read, and make garbage collections longer with each.
 */
export function cachedPetJson(): PetJson {
  const cache = new Array<{ pet: Pet; text: string } | undefined>(TEXTS).fill(undefined);
  return (pet) => {
    const place = Number(pet.id) % TEXTS;
    const cached = cache[place];
    if (cached?.pet === pet) return cached.text;
    const text = petJson(pet);
    cache[place] = { pet, text };
    return text;
  };
}

/** A page of pets as a JSON array. */
export function petsJson(pets: readonly Pet[], write: PetJson): string {
  let text = '[';
  for (let index = 0; index < pets.length; index += 1) text += (index === 0 ? '' : ',') + write(pets[index] as Pet);
  return `${text}]`;
}
