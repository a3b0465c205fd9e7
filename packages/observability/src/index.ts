/** @module @animal-store/observability */

export { LEVELS, LOG_LEVELS, type LogLevel } from './event-format.ts';
export { registerCountsByReason, registerGauge } from './gauges-and-counters.ts';
export { type CreateSeries, type Observe, registerHistogram } from './histogram.ts';
export { createLoadShedding, type LoadShedding } from './load-shedding.ts';
export { createLog, type Log } from './log.ts';
export { type MetricsSnapshot, mergeCounts, renderMetrics } from './merged-metrics.ts';
export { createMetrics, type Metrics, type Registry } from './metrics.ts';
export { openStandardOutput } from './open-standard-output.ts';
export { monitorStorage, type StorageMonitor, type StorageMonitorOptions } from './storage-monitor.ts';
