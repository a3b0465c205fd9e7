/**
 * For transports: authentication, and values in error messages.
 *
 * @module @animal-store/domain/transport
 */

export { generateApiKey, isUsable, visiblePrefixOf } from './api-keys/api-key.ts';
export type { Authenticate, AuthenticatedKey, AuthenticationOptions } from './api-keys/authentication.ts';
export { createAuthentication } from './api-keys/authentication.ts';
export { reasonOf } from './errors.ts';
export { quote } from './quote.ts';
