import type { Pet } from '@animal-store/domain';

/** A pet as JSON text, its 64-bit integers digit for digit; `status` only if it has one. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const end = status === undefined ? '}' : `,"status":"${status}"}`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${end}`;
}
