import type { PetPage } from '@animal-store/domain';
import type { JsonResponse } from '../http/response.ts';
import { type Cache, createCache } from './cache.ts';

/** A page with its parsed query and its response. */
export interface CachedPage<Query> extends PetPage {
  /** The parsed query string. */
  readonly query: Query;
  readonly response: JsonResponse;
}

/** The size of each generation of pages, in bytes, if a character takes one. */
const SIZE_MAX = 8 * 1024 * 1024;

/** The size of a page beside its texts and its array of pets, in bytes. Clients can ask for any number of empty pages. */
const PAGE_BYTES = 400;

/**
 * Caches pages by query string. The storage is still asked, see {@link isUpToDate}, because comparing a hundred pets takes
 * 0.1 µs, and joining their texts 5 µs.
 */
export function createPageCache<Query>(): Cache<string, CachedPage<Query>> {
  return createCache(
    SIZE_MAX,
    (text, { pets, response }) => PAGE_BYTES + text.length + 8 * pets.length + response.body.length,
  );
}

/** Whether the storage has returned the very objects that a page was made from. */
export function isUpToDate(cached: PetPage, { pets, next }: PetPage): boolean {
  if (cached.next !== next || cached.pets.length !== pets.length) return false;
  for (let index = 0; index < pets.length; index += 1) if (cached.pets[index] !== pets[index]) return false;
  return true;
}
