/** @module @animal-store/adapter-kit */

export { type BatchOptions, type BatchWork, createBatches } from './batches.ts';
export { createIdBlocks, type IdBlocks } from './id-blocks.ts';
export { createPetDecoder, type PetDecoder } from './pet-decoder.ts';
export { createResource, type Resource, type ResourceOptions } from './resource.ts';
