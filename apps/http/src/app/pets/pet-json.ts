import type { Pet } from '@animal-store/domain';
import { exact } from '@animal-store/exact-json';

/** A pet as `JSON.stringify` writes it: 64-bit integers digit for digit, `status` only if it has one. */
export const toJson = ({ id, name, categoryId, status }: Pet) => ({
  id: exact(id),
  name,
  categoryId: exact(categoryId),
  status,
});
