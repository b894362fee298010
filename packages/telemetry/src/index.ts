export { TelemetryBatcher } from './client/batcher.ts';
export type { DropReason, FlushReport, TelemetryStats } from './client/counters.ts';
export type { TelemetryEvent } from './client/encode.ts';
export { optOut, type Environment } from './client/opt-out.ts';
export type { TelemetryBatcherOptions } from './client/options.ts';
export type { QueueLimits } from './client/queue.ts';
export { createRedactor, pathsOfThisProcess, type RedactedPaths, type Redactor } from './client/redact.ts';
