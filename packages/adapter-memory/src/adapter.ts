/** @module @animal-store/adapter-memory/adapter */

import type { StorageAdapter } from '@animal-store/domain/ports';

/** Storage in memory, for applications that choose among adapters. */
export const adapter: StorageAdapter = {
  portsVersion: 1,
  description: 'memory; the animals are gone when the service stops',
  open: async () => (await import('./index.ts')).createMemoryStorage(),
};
