/** @module @animal-store/adapter-kit */

export { type Batches, type BatchPolicy, type BatchWork, createBatches } from './batches.ts';
export { createCachedKeyStore } from './cached-key-store.ts';
export { createIdBlocks, type IdBlocks } from './id-blocks.ts';
export { createPetDecoder, type PetDecoder } from './pet-decoder.ts';
