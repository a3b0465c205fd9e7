/**
 * For callers in the same process: the use cases, and what they take, return and throw.
 *
 * @module @animal-store/domain
 */

export type { ApiKey, Clock, Digest, RandomBytes } from './api-keys/api-key.ts';
export {
  type ApiKeyPage,
  type ApiKeyQuery,
  createKeyring,
  type IssuedKey,
  type Keyring,
  type KeyringOptions,
} from './api-keys/keyring.ts';
export { DomainError, type DomainErrorCode, type FieldViolation } from './errors.ts';
export { type AllPetsQuery, allPets } from './pets/all-pets.ts';
export { type Catalogue, createCatalogue, type PetPage } from './pets/catalogue.ts';
export { holderOf, type IdempotencyKey } from './pets/idempotency.ts';
export { LIMITS } from './pets/limits.ts';
export { type NewPet, PET_STATUSES, type Pet, type PetStatus } from './pets/pet.ts';
export type { PetQuery } from './pets/pet-query.ts';
export type { Creation } from './pets/pet-repository.ts';
