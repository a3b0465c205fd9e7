/**
 * For adapters: the ports that they implement, and what their implementations have in common.
 *
 * @module @animal-store/domain/ports
 */

export { allKeys } from './api-keys/all-keys.ts';
export { apiKeyId } from './api-keys/api-key.ts';
export type { ApiKeyRepository, ApiKeySelection } from './api-keys/api-key-repository.ts';
export { closed, StorageMisconfigured, unavailable } from './errors.ts';
export { fingerprint, type Idempotency, idempotencyNameOf, MAX_FINGERPRINT_BYTES } from './pets/idempotency.ts';
export type { PetArchive, StoredPet } from './pets/pet-archive.ts';
export {
  ALL_PETS,
  type Creation,
  type PetFilters,
  type PetRepository,
  type PetSelection,
  type SelectionBy,
} from './pets/pet-repository.ts';
export { mapPorts, type PortMethod, type Ports } from './port-methods.ts';
export {
  type Backup,
  checkFormat,
  PORTS_VERSION,
  type Storage,
  type StorageAdapter,
  type StorageVariable,
} from './storage.ts';
export { requireTime, requiringTimes } from './times.ts';
