import type { Pet } from '@animal-store/domain';

/** The texts of pets that a storage keeps as objects: pets never change. */
const texts = new WeakMap<Pet, string>();

/** A pet as JSON text, its 64-bit integers digit for digit; `status` only if it has one. */
export function petJson(pet: Pet): string {
  const known = texts.get(pet);
  if (known !== undefined) return known;
  const { id, name, categoryId, status } = pet;
  const end = status === undefined ? '}' : `,"status":"${status}"}`;
  const text = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${end}`;
  // A pet that is not frozen is made for one response.
  if (Object.isFrozen(pet)) texts.set(pet, text);
  return text;
}
