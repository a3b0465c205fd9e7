import type { Pet } from '@animal-store/domain';

/** A pet as JSON text, its 64-bit integers digit for digit; `status` only if it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const known = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  return status === undefined ? `${known}}` : `${known},"status":"${status}"}`;
}

/** Writes a pet as JSON text. */
export type PetJson = (pet: Pet) => string;

/** How many texts each generation of the cache has. */
const TEXTS = 20_000;

/**
 * Caches the texts of frozen pets, which are the same objects as long as they are unchanged: see `PetStore`. Texts in use are in the recent generation. When
 * it is full, it becomes the older one, and the older one is dropped: a WeakMap would keep the text of every pet that was ever
 * read, and make garbage collections longer with each.
 */
export function cachedPetJson(): PetJson {
  let recent = new Map<Pet, string>();
  let older = new Map<Pet, string>();
  return (pet) => {
    if (!Object.isFrozen(pet)) return petJson(pet);
    const cached = recent.get(pet);
    if (cached !== undefined) return cached;
    const text = older.get(pet) ?? petJson(pet);
    if (recent.size === TEXTS) {
      older = recent;
      recent = new Map();
    }
    recent.set(pet, text);
    return text;
  };
}

/** A page of pets as a JSON array. */
export function petsJson(pets: readonly Pet[], write: PetJson): string {
  let text = '[';
  for (let index = 0; index < pets.length; index += 1) text += (index === 0 ? '' : ',') + write(pets[index] as Pet);
  return `${text}]`;
}
