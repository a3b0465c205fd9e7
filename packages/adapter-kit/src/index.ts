/** @module @animal-store/adapter-kit */

export { type BatchOptions, type BatchWork, createBatches } from './batches.ts';
export { BUDGET } from './budget.ts';
export { createStorage, type Driver, type Methods } from './create-storage.ts';
export { otherDatabase } from './identity.ts';
export type { Limits } from './limits.ts';
export { readPages } from './pages.ts';
export { type Call, createResource, type Resource, type ResourceOptions, withTimeout } from './resource.ts';
export { timeLeft } from './time-left.ts';
