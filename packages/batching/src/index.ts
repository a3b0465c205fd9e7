/** @module @animal-store/batching */

export { type Batches, type BatchPolicy, type BatchWork, createBatches } from './batches.ts';
export { createKeyedBatches } from './keyed-batches.ts';
