/** @module @animal-store/adapter-kit */

export { type BatchOptions, type BatchWork, createBatches } from './batches.ts';
export { otherDatabase } from './identity.ts';
export { readPages } from './pages.ts';
export { createResource, type Resource, type ResourceOptions } from './resource.ts';
