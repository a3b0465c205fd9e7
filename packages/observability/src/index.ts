/** @module @animal-store/observability */

export { type Observe, registerHistogram } from './histogram.ts';
export { createLineWriter, type LineWriter } from './line-writer.ts';
export { createLoadShedding, type LoadShedding } from './load-shedding.ts';
export { reasonOf } from './reason-of.ts';
export { singleFlight } from './single-flight.ts';
export { openStandardOutput } from './standard-output.ts';
export { registerStorageCalls } from './storage-calls.ts';
export { createThrottle } from './throttle.ts';
