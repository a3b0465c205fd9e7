/** @module @animal-store/adapter-memory */

import type { Storage } from '@animal-store/domain/ports';
import { createMemory, openMemory } from './open.ts';

/**
 * A new, empty storage in memory: everything is gone when the process ends.
 *
 * @example const catalogue = createCatalogue(createMemoryStorage().pets)
 */
export function createMemoryStorage(): Storage {
  return openMemory(createMemory());
}
