/**
 * For callers in the same process: the use cases, and what they take, return and throw.
 *
 * @module @animal-store/domain
 */

export type { ApiKey, Digest, RandomBytes } from './api-keys/api-key.ts';
export type { IssuedKey, Keyring, KeyringOptions } from './api-keys/keyring.ts';
export { createKeyring } from './api-keys/keyring.ts';
export type { Clock, MonotonicClock } from './clock.ts';
export type { DomainErrorCode, FieldViolation } from './errors.ts';
export { DomainError } from './errors.ts';
export type { AllPetsOptions, AllPetsQuery } from './pets/all-pets.ts';
export { allPets } from './pets/all-pets.ts';
export type { Catalogue, PetPage } from './pets/catalogue.ts';
export { createCatalogue } from './pets/catalogue.ts';
export type { IdempotencyKey } from './pets/idempotency.ts';
export { LIMITS } from './pets/limits.ts';
export type { NewPet, Pet, PetStatus } from './pets/pet.ts';
export { checkedNewPet, isPetStatus, PET_STATUSES } from './pets/pet.ts';
export type { PetQuery } from './pets/pet-query.ts';
export type { Creation } from './pets/pet-store.ts';
