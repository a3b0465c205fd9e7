/**
 * For transports: the use cases as they need them, authentication, and values that they can't convert.
 *
 * @module @animal-store/domain/transport
 */

export { generateApiKey, isUsable, visiblePrefixOf } from './api-keys/api-key.ts';
export type { Authenticate, AuthenticatedKey, AuthenticationOptions } from './api-keys/authentication.ts';
export { createAuthentication } from './api-keys/authentication.ts';
export type { Awaitable } from './awaitable.ts';
export { andThen, isPromise } from './awaitable.ts';
export type { AwaitableCatalogue } from './pets/catalogue.ts';
export { createAwaitableCatalogue } from './pets/catalogue.ts';
export type { GivenIdempotencyKey } from './pets/idempotency.ts';
export type { Creation } from './pets/pet-store.ts';
export { quote, Violation } from './quote.ts';
export { reasonOf } from './reason-of.ts';
