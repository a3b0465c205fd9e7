/** @module @animal-store/observability */

export { type Observe, registerHistogram } from './histogram.ts';
export { LEVELS, LOG_LEVELS, type LogLevel } from './levels.ts';
export { createLoadShedding, type LoadShedding } from './load-shedding.ts';
export { createLog, type Log } from './log.ts';
export { reasonOf } from './reason-of.ts';
export { singleFlight } from './single-flight.ts';
export { openStandardOutput } from './standard-output.ts';
export { registerStorageCalls } from './storage-calls.ts';
export { monitorStorage, type StorageMonitor, type StorageMonitorOptions } from './storage-monitor.ts';
