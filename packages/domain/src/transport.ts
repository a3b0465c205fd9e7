/**
 * For transports: authentication, schemas, and values in error messages.
 *
 * @module @animal-store/domain/transport
 */

export { generateApiKey, isUsable, visiblePrefixOf } from './api-keys/api-key.ts';
export type { Authenticate, AuthenticatedKey, AuthenticationOptions } from './api-keys/authentication.ts';
export { createAuthentication } from './api-keys/authentication.ts';
export { reasonOf } from './errors.ts';
export { NEW_PET_PROPERTIES } from './pets/pet-schema.ts';
export { quote } from './quote.ts';
