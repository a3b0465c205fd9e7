/**
 * For adapters: the ports that they implement, and what their implementations have in common.
 *
 * @module @animal-store/domain/ports
 */

export { apiKeyId } from './api-keys/api-key.ts';
export type { KeyStore } from './api-keys/key-store.ts';
export { checkFormat } from './check-format.ts';
export type { PetStorage } from './pet-storage.ts';
export type { Idempotency } from './pets/idempotency.ts';
export { fingerprint } from './pets/idempotency.ts';
export type { Creation, PetSelection, PetStore } from './pets/pet-store.ts';
export type { StorageAdapter, StorageVariable } from './storage-adapter.ts';
export { PORTS_VERSION } from './storage-adapter.ts';
export { StorageMisconfigured } from './storage-misconfigured.ts';
export { closed, overloaded, unavailable } from './unavailable.ts';
