// For callers: the use cases, and what they take, return and throw.

export type { ApiKey, Clock, Digest, MonotonicClock, RandomBytes } from './api-key.ts';
export { API_KEY_PATTERN, API_KEY_PREFIX } from './api-key.ts';
export type { Authenticate } from './authentication.ts';
export { createAuthentication } from './authentication.ts';
export type { Awaitable } from './awaitable.ts';
export type { Catalogue, PetPage } from './catalogue.ts';
export { createCatalogue } from './catalogue.ts';
export type { DomainErrorCode } from './domain-error.ts';
export { DomainError } from './domain-error.ts';
export type { IdempotencyKey } from './idempotency.ts';
export { IDEMPOTENCY_KEY_MAX_LENGTH, IDEMPOTENCY_KEY_PATTERN } from './idempotency.ts';
export { INT64_MAX, INT64_MIN } from './int64.ts';
export type { IssuedKey, Keyring } from './keyring.ts';
export { createKeyring, HOLDER_PATTERN } from './keyring.ts';
export type { NewPet, Pet } from './pet.ts';
export {
  ASSIGNED_ID_MAX,
  CATEGORY_ID_MAX,
  CATEGORY_ID_MIN,
  NAME_MAX_LENGTH,
  NAME_PATTERN,
  PET_ID_MAX,
  PET_ID_MIN,
  parseNewPet,
} from './pet.ts';
export type { PetQuery } from './pet-query.ts';
export { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_LIMIT_MIN } from './pet-query.ts';
export type { PetStatus } from './pet-status.ts';
export { isPetStatus, PET_STATUSES } from './pet-status.ts';

// For adapters: the ports, and what their implementations have in common.

export { apiKeyId } from './api-key.ts';
export type { IdempotentCreate } from './idempotency.ts';
export { fingerprint } from './idempotency.ts';
export type { KeyStore } from './key-store.ts';
export type { PetSelection, PetStore } from './pet-store.ts';
export type { Quota, RateLimiter, RatePolicy } from './rate-limiter.ts';
export { quotaAfter } from './rate-limiter.ts';
export type { Storage } from './storage.ts';

// For transports: the words of their errors, values that may be promises, and keys.

export { generateApiKey, isUsable, isWellFormedApiKey } from './api-key.ts';
export { andThen, isPromise } from './awaitable.ts';
export { invalidRequest } from './domain-error.ts';
export { holderViolation } from './keyring.ts';
export { statusViolation } from './pet.ts';
export { isPageLimit, limitViolation } from './pet-query.ts';
export { NumberLiteral, quote } from './quote.ts';
