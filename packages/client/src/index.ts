/**
 * A client of the Animal Store over HTTP.
 *
 * @module @animal-store/client
 */

export type { NewPet, Pet, PetStatus } from '@animal-store/domain';
export type { AllPetsQuery, Client, ClientOptions, PetPage, PetQuery } from './client.ts';
export { createClient } from './client.ts';
export type { ErrorCode } from './error.ts';
export { AnimalStoreError } from './error.ts';
export type { CallOptions, RetryOptions } from './send.ts';
