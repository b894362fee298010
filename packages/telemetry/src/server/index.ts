export {
  createTelemetryEngine,
  defaultTelemetryConfig,
  type Sender,
  type TelemetryConfig,
  type TelemetryEngine,
  type TelemetryEngineOptions,
  type TelemetryEngineStats,
} from './engine.ts';
export type { StoredAttribute, StoredValue } from './any-value.ts';
export { judgeReplay } from './idempotency.ts';
export type { TelemetryRecord } from './log-record.ts';
export type {
  AppendRecords,
  Organizations,
  RecordQuery,
  StoredRecord,
  TelemetryActs,
  TelemetryReads,
  TelemetryStore,
} from './ports.ts';
