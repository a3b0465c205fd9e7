import type { Pet } from '@animal-store/domain';

/** An animal as JSON text, its 64-bit integers digit for digit; `status` only where it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const known = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  return status === undefined ? `${known}}` : `${known},"status":"${status}"}`;
}

/** Writes an animal as JSON text. */
export type PetJson = (pet: Pet) => string;

/**
 * Remembers the text of each animal for as long as the animal itself is kept: for a storage that hands out the same
 * objects again and again, which halves the cost of a page of a hundred. For one that makes new objects it is a waste.
 */
export function memoized(write: PetJson): PetJson {
  const texts = new WeakMap<Pet, string>();
  return (pet) => {
    const known = texts.get(pet);
    if (known !== undefined) return known;
    const text = write(pet);
    texts.set(pet, text);
    return text;
  };
}

/** A page of animals as a JSON array. */
export function petsJson(pets: readonly Pet[], write: PetJson): string {
  let text = '[';
  for (let index = 0; index < pets.length; index += 1) text += (index === 0 ? '' : ',') + write(pets[index] as Pet);
  return `${text}]`;
}
