import type { Storage } from '@animal-store/domain';
import { createMemoryKeyStore } from './memory-key-store.ts';
import { createMemoryPetStore } from './memory-pet-store.ts';

export { createMemoryRateLimiter } from './memory-rate-limiter.ts';

/**
 * Storage in plain memory: everything is gone when the process ends. It answers without promises, and the animals it
 * gives out are frozen and stay the same objects.
 *
 * @example const catalogue = createCatalogue(createMemoryStorage().pets)
 */
export function createMemoryStorage(): Storage {
  return { pets: createMemoryPetStore(), keys: createMemoryKeyStore(), ready() {}, close() {} };
}
