import type { Pet } from '@animal-store/domain';

/** An animal as JSON text, its 64-bit integers digit for digit; `status` only where it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const known = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}`;
  return status === undefined ? `${known}}` : `${known},"status":"${status}"}`;
}

/** A page of animals as a JSON array. */
export function petsJson(pets: readonly Pet[]): string {
  let text = '[';
  for (let index = 0; index < pets.length; index += 1) text += (index === 0 ? '' : ',') + petJson(pets[index] as Pet);
  return `${text}]`;
}
